package io.pawl.examples;

import io.pawl.DistributedReadWriteLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import java.time.Duration;

/**
 * Readers hold a lock together and a writer alone. A writer that has changed the catalogue goes on
 * as a reader, so that what it reads back is what it wrote. In memory here; on any store the lines
 * between are the same.
 */
public final class SharedCatalogue {

  private SharedCatalogue() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) throws InterruptedException {
    MemoryStore store = new MemoryStore();
    try (Pawl here = Pawl.over(store);
        Pawl elsewhere = Pawl.over(store)) {
      show(here.readWriteLock("catalogue"), elsewhere.readWriteLock("catalogue"));
    }
  }

  private static void show(DistributedReadWriteLock here, DistributedReadWriteLock elsewhere)
      throws InterruptedException {
    try (Lease one = here.readLock().acquire();
        Lease other = elsewhere.readLock().acquire()) {
      System.out.println("two read at once, tokens " + one.token() + " and " + other.token());
      if (here.writeLock().tryAcquire(Duration.ofMillis(10)).isPresent()) {
        throw new IllegalStateException("a writer got in beside readers");
      }
      System.out.println("a writer has to wait for them");
    }
    try (Lease lease = here.writeLock().acquire()) {
      System.out.println("the writer is in, token " + lease.token());
      lease.downgrade();
      try (Lease reader = elsewhere.readLock().acquire()) {
        System.out.println("it goes on reading, beside another, token " + reader.token());
      }
    }
  }
}
