package io.pawl.engine;

import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A held claim of a {@link LocalQueue}, and the loans under which it is lent: one at a time, or any
 * number where it is shared. Each has a token of its own out of the range that the store granted,
 * larger than that of the one before. Guarded by the queue's mutex.
 */
public final class Hold {

  private final LiveClaim claim;
  private final boolean shared;
  private final long firstToken;
  private final long lastToken;
  private final long sliceNanos;
  private final long grantedAt;
  private final long runEndsAt;
  private final Set<Loan> loans = new HashSet<>(2);
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
    return loans.isEmpty();
  }

  /** One more may have it beside those who have it. */
  boolean hasRoom() {
    return !drains && (shared || loans.isEmpty());
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

  Loan lend(Engine engine, LocalQueue queue) {
    Loan loan = new Loan(engine, queue, this, nextToken, nextToken > firstToken);
    nextToken++;
    loans.add(loan);
    claim.use(true);
    return loan;
  }

  /** False where {@code loan} has ended. */
  boolean takeBack(Loan loan) {
    return loans.remove(loan);
  }

  /** Nobody else gets it: it is given back when whoever has it has given it back. */
  void drain() {
    drains = true;
  }

  boolean isDraining() {
    return drains;
  }

  /** To whom it is lent. */
  List<Loan> loans() {
    return List.copyOf(loans);
  }

  /** All loans, which it takes back. */
  List<Loan> takeAll() {
    List<Loan> all = loans();
    loans.clear();
    return all;
  }
}
