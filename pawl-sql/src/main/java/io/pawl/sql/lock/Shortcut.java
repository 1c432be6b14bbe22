package io.pawl.sql.lock;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.Tokens;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import io.pawl.spi.rule.LockState.Entry;
import org.jspecify.annotations.Nullable;

/**
 * What the requests of a batch make of one lock, decided without reading it, by a guess that the
 * row is still as we left it: see {@link GuardedUpdate}, which changes nothing where the guess was
 * wrong. Two steps are worth it, alone or the first after the second.
 *
 * <p><b>Taking an idle lock.</b> An idle row has no times in it. What the grant rule makes of it at
 * time 0 it makes at any other time, with the times shifted; so the rule decides at time 0, and the
 * database writes its own time instead.
 *
 * <p><b>Giving back</b> the exclusive claim that was granted last, with nobody in the queue and
 * without a shortest hold: while the last token is still its own, nobody else can hold the lock.
 *
 * <p>So whatever else happened to the row meanwhile (a renewal, an eviction, the end of a lease), a
 * last token that is still the one we know says that nobody was granted the lock after us. The row
 * must still be a lock's, whose kind may have been changed while its last token stayed.
 *
 * <p>Late arrivals are harmless: a later grant has changed the last token, and the withdrawal of an
 * unsettled claim is remembered in the row, which then is not idle.
 *
 * @param lock the row
 * @param lastToken as the row must be
 * @param after what the row becomes; its times count from 0 where {@code keptMillis} is not 0
 * @param keptMillis how long the claim that holds it then is kept, 0 where nobody does
 * @param known what is known of the lock then
 * @param answer what the last of the requests is answered then, null where that is nothing
 */
public record Shortcut(
    String lock, long lastToken, Row after, long keptMillis, Known known, @Nullable Object answer) {

  /**
   * A lock as this client last left it: without waiters or withdrawn claims, no semaphore.
   *
   * @param holder the only one, exclusive; null where the lock is idle
   */
  public record Known(long lastToken, @Nullable ClaimId holder) {}

  /** What is worth knowing of {@code state}, null if nothing is. */
  static @Nullable Known know(LockState state) {
    if (!Kind.LOCK.equals(state.kind())) {
      return null;
    }
    if (state.isIdle()) {
      return new Known(state.lastToken(), null);
    }
    if (!state.waiters().isEmpty() || !state.withdrawn().isEmpty() || state.holders().size() != 1) {
      return null;
    }
    Entry holder = state.holders().iterator().next();
    boolean last =
        holder.mode() instanceof Mode.Exclusive && holder.lastToken() == state.lastToken();
    return last ? new Known(state.lastToken(), holder.id()) : null;
  }

  public static @Nullable Shortcut toTake(Known known, Claim claim) {
    boolean areTokensLeft =
        Math.max(known.lastToken, claim.tokenFloor()) <= Tokens.MAX - claim.tokens();
    if (known.holder != null || !(claim.mode() instanceof Mode.Exclusive) || !areTokensLeft) {
      return null;
    }
    LockState state = new LockState(claim.lock(), Kind.LOCK, known.lastToken);
    Standing held = GrantRule.attempt(state, claim, 0);
    Known then = new Known(state.lastToken(), claim.id());
    long kept = state.holders().iterator().next().until();
    return new Shortcut(claim.lock(), known.lastToken, Row.of(state), kept, then, held);
  }

  public static @Nullable Shortcut toGiveBack(Known known, Claim claim) {
    if (!claim.id().equals(known.holder) || claim.unsettled() || !claim.minHold().isZero()) {
      return null;
    }
    Row idle = Row.of(new LockState(claim.lock(), Kind.LOCK, known.lastToken));
    return new Shortcut(
        claim.lock(), known.lastToken, idle, 0, new Known(known.lastToken, null), null);
  }

  /** Whether both can be one: what is taken and given back would leave no token in the row. */
  boolean canBeFollowedBy(Shortcut next) {
    return !leavesAHolder() || next.leavesAHolder();
  }

  /** Both at once: this one, and {@code next}, which counts on what this one leaves. */
  public Shortcut and(Shortcut next) {
    return new Shortcut(lock, lastToken, next.after, next.keptMillis, next.known, next.answer);
  }

  boolean leavesAHolder() {
    return keptMillis > 0;
  }

  /** The text of the holder, from what follows its two times. */
  String holderAfterTimes() {
    return after.holdersAfterTimes(0, keptMillis);
  }
}
