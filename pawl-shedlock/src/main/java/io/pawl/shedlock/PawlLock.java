package io.pawl.shedlock;

import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import io.pawl.error.PawlException;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lease as ShedLock sees it. The store keeps the shortest hold that the lock was taken with; one
 * that an extension asks for is kept by this process.
 */
final class PawlLock extends AbstractSimpleLock {

  private static final Logger log = LoggerFactory.getLogger(PawlLock.class);

  private final Lease lease;
  private final DueUnlocks dueUnlocks;
  private final long overAt;
  private final long busyUntil;

  /**
   * @param busy how long it is to stay busy, should it be unlocked sooner
   * @param dueUnlocks of those that are unlocked sooner
   */
  PawlLock(Lease lease, LockConfiguration configuration, Duration busy, DueUnlocks dueUnlocks) {
    this(lease, configuration, busy, dueUnlocks, System.nanoTime());
  }

  /**
   * @param atLeastUntil when it is over, unless its configuration makes it last longer
   */
  private PawlLock(
      Lease lease,
      LockConfiguration configuration,
      Duration busy,
      DueUnlocks dueUnlocks,
      long atLeastUntil) {
    super(configuration);
    long now = System.nanoTime();
    long until = now + configuration.getLockAtMostFor().toNanos();
    this.lease = lease;
    this.dueUnlocks = dueUnlocks;
    this.overAt = until - atLeastUntil > 0 ? until : atLeastUntil;
    this.busyUntil = now + busy.toNanos();
  }

  /** One that has run out is not what the task failed of: it is logged. */
  @Override
  protected void doUnlock() {
    long left = busyUntil - System.nanoTime();
    if (left <= 0) {
      close();
    } else {
      dueUnlocks.after(left, lease, this::closeLater);
    }
  }

  boolean isValid() {
    return lease.isValid();
  }

  /** Unlocks it at once: its task has not begun, and misses nothing where it has run out. */
  void giveBack() {
    try {
      lease.close();
    } catch (LeaseLostException e) {
      log.debug("lock '{}' had ended before its task began", lease.lock());
    }
  }

  private void closeLater() {
    try {
      close();
    } catch (PawlException e) {
      log.warn("lock '{}' is left to run out", lease.lock(), e);
    }
  }

  private void close() {
    try {
      lease.close();
    } catch (LeaseLostException e) {
      log.warn(
          "lock '{}' was unlocked after it had ended: its task may have run beside another one;"
              + " lengthen lockAtMostFor, {} now, or extend the lock",
          lease.lock(),
          lockConfiguration.getLockAtMostFor());
    }
  }

  @Override
  protected Optional<SimpleLock> doExtend(LockConfiguration extended) {
    if (System.nanoTime() - overAt >= 0) { // Pawl's shortest lease may outlast it
      close();
      return Optional.empty();
    }
    try {
      lease.extend(extended.getLockAtMostFor());
    } catch (LeaseLostException e) {
      return Optional.empty();
    }
    return Optional.of(
        new PawlLock(lease, extended, extended.getLockAtLeastFor(), dueUnlocks, overAt));
  }

  @Override
  public String toString() {
    return "PawlLock[" + lease + "]";
  }
}
