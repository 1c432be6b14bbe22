package io.pawl.redisson;

import io.pawl.Lease;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The leases of permits that this process has, whichever thread acquired them. Thread-safe. */
final class HeldPermits {

  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, List<Lease>> bySemaphore = new HashMap<>();

  void add(Lease lease) {
    mutex.lock();
    try {
      bySemaphore.computeIfAbsent(lease.lock(), name -> new ArrayList<>()).add(lease);
    } finally {
      mutex.unlock();
    }
  }

  void remove(Lease lease) {
    mutex.lock();
    try {
      removed(lease.lock(), List.of(lease));
    } finally {
      mutex.unlock();
    }
  }

  /** Removes the lease with this token; null where there is none. */
  @Nullable Lease remove(String semaphore, long token) {
    mutex.lock();
    try {
      for (Lease lease : bySemaphore.getOrDefault(semaphore, List.of())) {
        if (lease.token() == token) {
          removed(semaphore, List.of(lease));
          return lease;
        }
      }
      return null;
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Removes leases that have so many permits together: one that has as many if there is one, those
   * that were lost before others, and the newest first. Empty where none add up to it.
   */
  List<Lease> remove(String semaphore, int permits) {
    mutex.lock();
    try {
      List<Lease> held = lostOnesLast(bySemaphore.getOrDefault(semaphore, List.of()));
      List<Lease> chosen = new ArrayList<>();
      for (int i = held.size() - 1; i >= 0 && chosen.isEmpty(); i--) {
        if (held.get(i).permits() == permits) {
          chosen.add(held.get(i));
        }
      }
      int missing = chosen.isEmpty() ? permits : 0;
      for (int i = held.size() - 1; i >= 0 && missing > 0; i--) {
        if (held.get(i).permits() <= missing) {
          chosen.add(held.get(i));
          missing -= held.get(i).permits();
        }
      }
      if (missing > 0) {
        return List.of();
      }
      removed(semaphore, chosen);
      return chosen;
    } finally {
      mutex.unlock();
    }
  }

  private static List<Lease> lostOnesLast(List<Lease> leases) {
    List<Lease> lost = leases.stream().filter(lease -> lease.remaining().isZero()).toList();
    List<Lease> sorted = new ArrayList<>(leases);
    sorted.removeAll(lost);
    sorted.addAll(lost);
    return sorted;
  }

  private void removed(String semaphore, List<Lease> leases) {
    List<Lease> held = bySemaphore.get(semaphore);
    if (held != null) {
      held.removeAll(leases);
      if (held.isEmpty()) {
        bySemaphore.remove(semaphore);
      }
    }
  }
}
