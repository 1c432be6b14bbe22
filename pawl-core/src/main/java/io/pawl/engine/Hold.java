package io.pawl.engine;

import io.pawl.concurrent.Time;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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

  /** To whom it is lent where it is shared; else it is one, kept by itself since it is cheaper. */
  private final Set<Loan> loans;

  private @Nullable Loan loan;
  private long nextToken;
  private long sliceEndsAt;
  private boolean drains;

  /** Since it was first given back with nobody waiting: it is for its own client until then. */
  private boolean kept;

  private long keptUntil;

  private Time.@Nullable Pending endOfKeeping;

  Hold(LiveClaim claim, Standing.Held tokens, long runNanos, long sliceNanos, long now) {
    this.claim = claim;
    this.shared = claim.claim().mode() instanceof Mode.Shared;
    this.loans = shared ? new HashSet<>() : Set.of();
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
    return loan == null && loans.isEmpty();
  }

  /** One more may have it beside those who have it. */
  boolean hasRoom() {
    return !drains && (shared || loan == null);
  }

  /** Within the bounds of a run, or of its keeping, as far as this client is concerned. */
  boolean mayPass(long now) {
    boolean runs = now - (kept ? keptUntil : runEndsAt) < 0;
    return !drains && !isUsedUp() && runs && claim.isFresh(now);
  }

  /**
   * Whether it may lie free for its own client, though nobody waits: for {@code nanos} from the
   * first time on, and only after somebody has worked under it.
   */
  boolean mayBeKept(long nanos, long now) {
    if (!kept) {
      keptUntil = now + nanos;
      kept = true;
    }
    return now - keptUntil < 0 && !drains && claim.isUsed() && claim.isFresh(now);
  }

  /** Has {@code end} run when it may no longer be kept. */
  void endsKeepingBy(Time time, long now, Runnable end) {
    if (endOfKeeping == null) {
      endOfKeeping = time.after(keptUntil - now, end);
    }
  }

  /** It has ended. */
  void stopKeeping() {
    if (endOfKeeping != null) {
      endOfKeeping.cancel();
    }
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
    Loan lent = new Loan(engine, queue, this, nextToken, nextToken > firstToken);
    nextToken++;
    if (shared) {
      loans.add(lent);
    } else {
      loan = lent;
    }
    claim.use(true);
    return lent;
  }

  /** False where {@code returned} has ended. */
  boolean takeBack(Loan returned) {
    if (shared) {
      return loans.remove(returned);
    }
    boolean ours = loan == returned;
    loan = ours ? null : loan;
    return ours;
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
    Loan only = loan;
    return only == null ? List.copyOf(loans) : List.of(only);
  }

  /** All loans, which it takes back. */
  List<Loan> takeAll() {
    List<Loan> all = loans();
    loan = null;
    if (shared) {
      loans.clear();
    }
    return all;
  }
}
