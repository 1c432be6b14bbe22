package io.pawl;

import io.pawl.error.LeaseLostException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What happened in one simulated world, checked against the promises as it happens. */
final class History {

  private static final long WHOLE = 1_000_000;

  private final EventQueue queue;
  private final List<SimulatedLease> leases = new ArrayList<>();
  private final Map<String, Long> lastGranted = new HashMap<>();
  private final Map<ClaimId, Standing.Held> granted = new HashMap<>();
  private final Map<String, Long> lastDelivered = new HashMap<>();
  private final Map<String, Long> lastWriter = new HashMap<>();
  private final Map<String, Set<Long>> delivered = new HashMap<>();
  private final Map<String, Long> register = new HashMap<>();
  private final List<Eviction> evictions = new ArrayList<>();
  private final Map<Grant, Long> lastsUntil = new HashMap<>();
  private final Map<ClaimId, Long> withdrawnAt = new HashMap<>();

  /** The largest capacity that a semaphore has had. */
  private final Map<String, Integer> mostPermits = new HashMap<>();

  private final List<SimulatedLease> untold = new ArrayList<>();
  private @Nullable String violation;
  private int losses;

  private record Grant(String lock, long token) {}

  private record Eviction(String lock, long token, long lastToken) {
    boolean ends(Lease lease) {
      return lease.lock().equals(lock) && token <= lease.token() && lease.token() <= lastToken;
    }
  }

  History(EventQueue queue) {
    this.queue = queue;
  }

  void violation(String what) {
    if (violation == null) {
      violation = "at " + queue.now() / 1_000 + " us: " + what;
    }
  }

  /** The first promise that was broken. */
  @Nullable String violation() {
    return violation;
  }

  int delivered() {
    return delivered.values().stream().mapToInt(Set::size).sum();
  }

  int losses() {
    return losses;
  }

  /** P2, as the store grants, and P4: what was withdrawn does not come back. */
  void stands(Claim claim, Standing standing) {
    Long ended = withdrawnAt.get(claim.id());
    boolean remembered =
        ended != null
            && queue.now() / 1_000_000 - ended / 1_000_000 < GrantRule.WITHDRAWN_KEPT_MILLIS;
    if (remembered && !standing.equals(Standing.GONE)) {
      violation("P4: " + claim.id() + " was withdrawn and came back " + standing);
    }
    Standing.Held before = granted.get(claim.id());
    if (!(standing instanceof Standing.Held held) || (before != null && before.isSameAs(held))) {
      return;
    }
    long last = lastGranted.getOrDefault(claim.lock(), 0L);
    if (held.token() <= last) {
      violation("P2: " + claim.lock() + " granted " + held + " after token " + last);
    }
    lastGranted.put(claim.lock(), held.lastToken());
    if (!claim.minHold().isZero()) {
      long wholeMillis = queue.now() / 1_000_000 * 1_000_000;
      lastsUntil.put(
          new Grant(claim.lock(), held.token()), wholeMillis + claim.minHold().toNanos());
    }
    granted.put(claim.id(), held);
  }

  /** An answer that was lost on its way. */
  void unheard(@Nullable Object answer) {
    queue.trace(answer == null ? 0 : 1);
  }

  /** P4: nobody else's hold ends. */
  void withdraws(MemoryStore store, Claim claim, Runnable verb) {
    store.evict(claim.lock(), 0).toCompletableFuture().join();
    Set<ClaimId> before = holders(store, claim.lock());
    before.remove(claim.id());
    verb.run();
    withdrawnAt.putIfAbsent(claim.id(), queue.now());
    before.removeAll(holders(store, claim.lock()));
    if (!before.isEmpty()) {
      violation("P4: withdrawing " + claim.id() + " ended " + before);
    }
  }

  private static Set<ClaimId> holders(MemoryStore store, String lock) {
    Set<ClaimId> ids = new HashSet<>();
    store
        .show(lock)
        .toCompletableFuture()
        .join()
        .map(LockView::holders)
        .orElse(List.of())
        .forEach((ClaimView holder) -> ids.add(holder.id()));
    return ids;
  }

  /** A user was handed {@code lease}. P2, as the users see it. */
  SimulatedLease delivered(
      Lease lease, SimulatedProcess process, SimulatedTime time, boolean toldLate) {
    String lock = lease.lock();
    queue.trace(lease.token());
    if (!delivered.computeIfAbsent(lock, k -> new HashSet<>()).add(lease.token())) {
      violation("P2: " + lock + " token " + lease.token() + " was handed out twice");
    }
    long until = lastsUntil.getOrDefault(new Grant(lock, lease.token()), 0L);
    SimulatedLease seen = new SimulatedLease(this, lease, process, time, until, toldLate);
    if (evictions.stream().anyMatch(eviction -> eviction.ends(lease))) {
      seen.evict();
    }
    if (seen.claimsValidity()) {
      checkOrder(lease);
    }
    leases.add(seen);
    return seen;
  }

  /** Writers' tokens grow, and stand between those of the readers before and after. */
  private void checkOrder(Lease lease) {
    boolean writer = lease.mode() instanceof Mode.Exclusive;
    long last = (writer ? lastDelivered : lastWriter).getOrDefault(lease.lock(), 0L);
    if (lease.token() <= last) {
      violation("P2: " + lease.lock() + " token " + lease.token() + " is valid after " + last);
    }
    lastDelivered.merge(lease.lock(), lease.token(), Math::max);
    if (writer) {
      lastWriter.merge(lease.lock(), lease.token(), Math::max);
    }
  }

  /** An operator takes these tokens away. */
  void evicted(String lock, long token, long lastToken) {
    Eviction eviction = new Eviction(lock, token, lastToken);
    evictions.add(eviction);
    leases.stream().filter(seen -> eviction.ends(seen.lease())).forEach(SimulatedLease::evict);
  }

  /** P3: a write to a resource that refuses tokens smaller than the largest it has seen. */
  void write(Lease lease, boolean valid) {
    long largest = register.getOrDefault(lease.lock(), 0L);
    if (lease.token() >= largest) {
      register.put(lease.lock(), lease.token());
    } else if (valid) {
      violation("P3: a valid holder's token " + lease.token() + " is behind " + largest);
    }
  }

  void lost() {
    losses++;
  }

  /** {@code lease} was lost, and its holder has yet to hear of it. */
  void untold(SimulatedLease lease) {
    untold.add(lease);
  }

  /** P5, at the end of the world: callbacks that had to wait for others have run. */
  void checkEveryLossWasTold() {
    untold.stream()
        .filter(lease -> !lease.wasTold())
        .forEach(lease -> violation("P5: nobody was ever told that " + lease + " was lost"));
  }

  /** P1, a shortest hold for as long as it is owed, and P5, after every event. */
  void check() {
    for (int i = 0; i < leases.size(); i++) {
      SimulatedLease one = leases.get(i);
      one.check(queue.now());
      long used = 0;
      for (int j = i; j < leases.size() && one.occupies(queue.now()); j++) {
        SimulatedLease other = leases.get(j);
        if (other.occupies(queue.now()) && other.lock().equals(one.lock())) {
          used += units(other.mode());
        }
      }
      if (used > (one.mode().capacity() > 0 ? mostPermits(one.lock()) : WHOLE)) {
        violation("P1: too many are valid at once: " + leases);
      }
    }
    leases.removeIf(lease -> lease.isOver() && !lease.occupies(queue.now()));
  }

  /** {@code lock} is a semaphore of {@code capacity} from now on. */
  void capacityIs(String lock, int capacity) {
    mostPermits.merge(lock, capacity, Math::max);
  }

  private int mostPermits(String lock) {
    return mostPermits.getOrDefault(lock, 0);
  }

  private static long units(Mode mode) {
    if (mode instanceof Mode.Permits permits) {
      return permits.wanted();
    }
    return mode instanceof Mode.Shared ? 1 : WHOLE;
  }

  /** Whether a user holds this lock, by its own account, or a hold of one has to last. */
  boolean someoneHolds(String lock) {
    return leases.stream().anyMatch(l -> l.occupies(queue.now()) && l.lock().equals(lock));
  }

  /** When the last shortest hold of the lock was over. */
  long shortestHoldsEnd(String lock) {
    return lastsUntil.entrySet().stream()
        .filter(grant -> grant.getKey().lock().equals(lock) && grant.getValue() <= queue.now())
        .mapToLong(Map.Entry::getValue)
        .max()
        .orElse(Long.MIN_VALUE / 2);
  }

  boolean isLost(CompletableFuture<?> closed) {
    return closed.isCompletedExceptionally()
        && closed.handle((nothing, error) -> error instanceof LeaseLostException).join();
  }
}
