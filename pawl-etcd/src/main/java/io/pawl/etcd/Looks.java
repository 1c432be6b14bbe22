package io.pawl.etcd;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which claims are being looked at since something was heard, and which once more after that: one
 * look follows however much is heard meanwhile. Thread-safe.
 */
final class Looks {

  private final ReentrantLock mutex = new ReentrantLock();
  private final Set<LocalClaim> underWay = new HashSet<>();
  private final Set<LocalClaim> next = new HashSet<>();

  /** Returns those of {@code wanted} that are to be looked at now, until their {@link #end}. */
  List<LocalClaim> begin(Collection<LocalClaim> wanted) {
    List<LocalClaim> now = new ArrayList<>();
    mutex.lock();
    try {
      for (LocalClaim local : wanted) {
        if (underWay.add(local)) {
          now.add(local);
        } else {
          next.add(local);
        }
      }
    } finally {
      mutex.unlock();
    }
    return now;
  }

  /** Returns those of which something was heard since the look at them began. */
  List<LocalClaim> end(Collection<LocalClaim> looked) {
    List<LocalClaim> again = new ArrayList<>();
    mutex.lock();
    try {
      for (LocalClaim local : looked) {
        underWay.remove(local);
        if (next.remove(local)) {
          again.add(local);
        }
      }
    } finally {
      mutex.unlock();
    }
    return again;
  }
}
