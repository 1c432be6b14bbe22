package io.pawl.shedlock;

import io.pawl.Pawl;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * ShedLock's locks on a store of Pawl's, with ShedLock's semantics: {@code lockAtMostFor} is how
 * long the lock lasts unless it is unlocked before, whether its process lives or not; {@code
 * lockAtLeastFor} is how long it stays busy at least, which the store keeps even if the process
 * ends. The lock has the name that ShedLock gives it, so Pawl's commands and locks see it.
 *
 * <p>All times are the store's and this machine's monotonic ones: hosts whose clocks differ do not
 * disturb it. Thread-safe. Whoever made the client closes it. The provider has one daemon thread,
 * and that only while an unlock waits for the shortest time of an extension.
 */
public final class PawlLockProvider implements ExtensibleLockProvider {

  private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);
  private static final Duration LONGEST_LEASE = Duration.ofDays(7);

  /** A client gives a lease up earlier than the store does: by a hundredth, and by this. */
  private static final Duration MARGIN = Duration.ofMillis(25);

  private final Pawl pawl;
  private final String prefix;
  private final DueUnlocks dueUnlocks = new DueUnlocks();

  /** Locks under the names that ShedLock gives them. */
  public PawlLockProvider(Pawl pawl) {
    this(pawl, "");
  }

  /**
   * Locks under {@code prefix} and the name that ShedLock gives them: for applications that share a
   * store.
   */
  public PawlLockProvider(Pawl pawl, String prefix) {
    this.pawl = Objects.requireNonNull(pawl, "pawl");
    this.prefix = Objects.requireNonNull(prefix, "prefix");
  }

  /**
   * Takes the lock if it is free. One round trip. A store that does not answer is asked again for
   * the client's patience, 5 s unless set: the task may come but once a day.
   *
   * @param configuration with {@code lockAtMostFor} of up to 7 days; a shorter one than Pawl's
   *     shortest lease, 100 ms, counts as that
   * @return empty where somebody else holds it, or it was released less than {@code lockAtLeastFor}
   *     after it was taken
   * @throws IllegalArgumentException for a time or name that cannot be, before anything is sent
   * @throws StoreException when the store cannot be asked for that long and 500 ms: nothing is held
   * @throws IllegalStateException when the client is closed
   */
  @Override
  public Optional<SimpleLock> lock(LockConfiguration configuration) {
    return take(configuration, configuration.getLockAtLeastFor(), Duration.ZERO)
        .map(SimpleLock.class::cast);
  }

  /**
   * @param minHold as the store keeps it
   * @param busy as the lock itself keeps it when it is unlocked
   */
  Optional<PawlLock> take(LockConfiguration configuration, Duration minHold, Duration busy) {
    if (!configuration.getLockAtMostUntil().isAfter(ClockProvider.now())) {
      return Optional.empty(); // as with ShedLock's own: it would be over before it began
    }
    LockOptions options =
        LockOptions.defaults()
            .lease(lease(configuration.getLockAtMostFor()))
            .renewal(false)
            .minHold(minHold);
    return pawl.lock(prefix + configuration.getName(), options)
        .tryAcquirePatiently()
        .map(lease -> new PawlLock(lease, configuration, busy, dueUnlocks));
  }

  /** So long that this client trusts it for {@code atMost}, at least. */
  private static Duration lease(Duration atMost) {
    Duration whole = atMost.plus(MARGIN).multipliedBy(100).dividedBy(99);
    Duration enough = whole.compareTo(LONGEST_LEASE) > 0 ? LONGEST_LEASE : whole;
    Duration lease = enough.compareTo(atMost) < 0 ? atMost : enough; // which is refused if too long
    return lease.compareTo(SHORTEST_LEASE) < 0 ? SHORTEST_LEASE : lease;
  }

  @Override
  public String toString() {
    return "PawlLockProvider[" + pawl + "]";
  }
}
