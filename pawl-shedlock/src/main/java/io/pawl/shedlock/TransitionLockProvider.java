package io.pawl.shedlock;

import io.pawl.Pawl;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes a lock of Pawl's and the application's old one, for the release in between: deploy it
 * everywhere first, and a release with {@link PawlLockProvider} alone after it. No task runs twice
 * then, since each release shares a lock with the one before.
 *
 * <p>Both are taken, or none. Pawl's is taken first, so that hosts of this release disturb the old
 * store once for each task. Thread-safe.
 */
public final class TransitionLockProvider implements ExtensibleLockProvider {

  private static final Logger log = LoggerFactory.getLogger(TransitionLockProvider.class);

  private final PawlLockProvider pawl;
  private final LockProvider old;

  /**
   * @param old what the release before this one uses
   */
  public TransitionLockProvider(Pawl pawl, LockProvider old) {
    this(new PawlLockProvider(pawl), old);
  }

  /**
   * @param old what the release before this one uses
   */
  public TransitionLockProvider(PawlLockProvider pawl, LockProvider old) {
    this.pawl = Objects.requireNonNull(pawl, "pawl");
    this.old = Objects.requireNonNull(old, "old");
  }

  /**
   * Takes both locks if both are free, and {@code lockAtMostFor} is not over before the second is
   * taken.
   *
   * @throws RuntimeException what either provider throws; nothing of Pawl's is held then
   */
  @Override
  public Optional<SimpleLock> lock(LockConfiguration configuration) {
    // where the old lock is busy, Pawl's must not stay so
    Optional<PawlLock> ours =
        pawl.take(configuration, Duration.ZERO, configuration.getLockAtLeastFor());
    if (ours.isEmpty()) {
      return Optional.empty();
    }
    Optional<SimpleLock> theirs;
    try {
      theirs = old.lock(configuration);
    } catch (Throwable e) { // checked ones too: other languages throw them undeclared
      andThen(ours.get()::giveBack, e);
      throw e;
    }
    if (theirs.isPresent() && ours.get().isValid()) {
      return Optional.of(new Both(ours.get(), theirs.get()));
    }
    theirs.ifPresent(Both::release); // it came when Pawl's had run out
    ours.get().giveBack();
    return Optional.empty();
  }

  private static void andThen(Runnable release, Throwable thrown) {
    try {
      release.run();
    } catch (RuntimeException e) {
      thrown.addSuppressed(e);
    }
  }

  private static final class Both implements SimpleLock {

    private final SimpleLock ours;
    private SimpleLock theirs;
    private boolean over;

    Both(SimpleLock ours, SimpleLock theirs) {
      this.ours = ours;
      this.theirs = theirs;
    }

    @Override
    public void unlock() {
      checkNotOver();
      try {
        theirs.unlock();
      } catch (Throwable e) { // as above
        andThen(ours::unlock, e);
        throw e;
      }
      ours.unlock();
      over = true;
    }

    @Override
    public Optional<SimpleLock> extend(Duration lockAtMostFor, Duration lockAtLeastFor) {
      checkNotOver();
      Optional<SimpleLock> longer = theirs.extend(lockAtMostFor, lockAtLeastFor);
      if (longer.isEmpty()) {
        over = true;
        release(ours);
        return Optional.empty();
      }
      theirs = longer.get(); // what is unlocked, should the other extension fail
      Optional<SimpleLock> oursLonger = ours.extend(lockAtMostFor, lockAtLeastFor);
      over = true;
      if (oursLonger.isEmpty()) {
        release(theirs);
        return Optional.empty();
      }
      return Optional.of(new Both(oursLonger.get(), theirs));
    }

    private void checkNotOver() {
      if (over) {
        throw new IllegalStateException("the lock was unlocked or extended before");
      }
    }

    private static void release(SimpleLock lock) {
      try {
        lock.unlock();
      } catch (RuntimeException e) {
        log.warn("a lock that is not extended is left to run out", e);
      }
    }
  }
}
