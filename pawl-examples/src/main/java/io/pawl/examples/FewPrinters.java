package io.pawl.examples;

import io.pawl.DistributedSemaphore;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LockKindException;
import io.pawl.memory.MemoryStore;
import java.util.Optional;

/**
 * Three printers for all hosts: a semaphore of three permits, of which a job takes as many as it
 * needs. In memory here; on any store the lines between are the same.
 */
public final class FewPrinters {

  private FewPrinters() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) throws InterruptedException {
    MemoryStore store = new MemoryStore();
    try (Pawl here = Pawl.over(store);
        Pawl elsewhere = Pawl.over(store)) {
      show(here, elsewhere);
    }
  }

  private static void show(Pawl here, Pawl elsewhere) throws InterruptedException {
    DistributedSemaphore printers = here.semaphore("printers", 3);
    try (Lease large = printers.acquire(2);
        Lease small = elsewhere.semaphore("printers", 3).acquire(1)) {
      System.out.println("one job has " + large.permits() + ", another " + small.permits());
      Optional<Lease> more = printers.tryAcquire(1);
      if (more.isPresent()) {
        throw new IllegalStateException("there were more printers than three");
      }
      System.out.println("no printer is left");
    }
    try {
      elsewhere.semaphore("printers", 5).tryAcquire(1);
      throw new IllegalStateException("clients that disagree were not told");
    } catch (LockKindException told) {
      System.out.println(told.getMessage());
    }
    try (Lease all = printers.changeCapacity(5).acquire(5)) {
      System.out.println("now there are " + all.permits());
    }
  }
}
