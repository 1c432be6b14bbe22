package io.pawl;

import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A held claim of a {@link Line}, and the leases under which it is lent: one at a time, or any
 * number where it is shared. Each lease has a token of its own out of the range that the store
 * granted, larger than that of the one before. Guarded by the line's mutex.
 */
final class Hold {

  private final LiveClaim claim;
  private final boolean shared;
  private final long firstToken;
  private final long lastToken;
  private final long sliceNanos;
  private final long grantedAt;
  private final long runEndsAt;
  private final Set<Lease> leases = new HashSet<>(2);
  private long nextToken;
  private long sliceEndsAt;
  private boolean drains;

  Hold(LiveClaim claim, Standing.Held tokens, long runNanos, long sliceNanos, long now) {
    this.claim = claim;
    this.shared = claim.claim().mode() instanceof Mode.Shared;
    this.firstToken = tokens.token();
    this.nextToken = firstToken;
    this.lastToken = tokens.lastToken();
    this.sliceNanos = sliceNanos;
    this.grantedAt = now;
    this.runEndsAt = now + runNanos;
  }

  LiveClaim claim() {
    return claim;
  }

  boolean isShared() {
    return shared;
  }

  /** Lent to nobody. */
  boolean isFree() {
    return leases.isEmpty();
  }

  /** One more may have it beside those who have it. */
  boolean hasRoom() {
    return !drains && (shared || leases.isEmpty());
  }

  /** Within the bounds of a run, as far as this client is concerned. */
  boolean mayPass(long now) {
    return !drains && !isUsedUp() && now - runEndsAt < 0 && claim.isFresh(now);
  }

  boolean isUsedUp() {
    return nextToken > lastToken;
  }

  long usedTokens() {
    return nextToken - firstToken;
  }

  boolean isInSlice(long now) {
    return now - sliceEndsAt < 0;
  }

  /** Whether it was granted longer ago than {@code nanos}. */
  boolean isOlderThan(long nanos, long now) {
    return now - grantedAt - nanos >= 0;
  }

  void beginSlice(long now) {
    sliceEndsAt = now + sliceNanos;
  }

  Lease lend(Engine engine, Line line) {
    Lease lease = new Lease(engine, line, this, nextToken, nextToken > firstToken);
    nextToken++;
    leases.add(lease);
    claim.use(true);
    return lease;
  }

  /** False where it was not lent under {@code lease} any more. */
  boolean takeBack(Lease lease) {
    return leases.remove(lease);
  }

  /** Nobody else gets it: it is given back when whoever has it has given it back. */
  void drain() {
    drains = true;
  }

  boolean isDraining() {
    return drains;
  }

  /** All leases, which it is not lent under any more. */
  List<Lease> takeAll() {
    List<Lease> all = List.copyOf(leases);
    leases.clear();
    return all;
  }
}
