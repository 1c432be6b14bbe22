package io.pawl.quorum;

import io.pawl.concurrent.Time;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A store in memory as a node, which only a test may have. */
final class MemoryNode implements QuorumNode, Inspectable, Diagnosable {

  private final MemoryStore memory;
  private final String name;
  private final CompletableFuture<Void> now = CompletableFuture.completedFuture(null);
  private volatile Predicate<Claim> late = claim -> false;
  private volatile CompletableFuture<Void> letGo = now;
  private volatile Predicate<Claim> later = claim -> false;
  private volatile CompletableFuture<Void> arrival = now;
  private volatile long ahead;
  private volatile boolean mute;
  private volatile boolean blocking;
  private volatile boolean unexaminable;
  private volatile boolean uncloseable;
  private volatile boolean closed;
  private final AtomicBoolean forgetful = new AtomicBoolean();
  private volatile long raisedTo;
  private volatile Duration votesIn = Duration.ZERO;
  private volatile boolean onceMore;
  private volatile @Nullable Time saysWho;
  private long saysWhoIn;
  private long saidWhoAt;

  MemoryNode(MemoryStore memory, String name) {
    this.memory = memory;
    this.name = name;
  }

  /** Attempts of such claims are served at once, and their answers come when they are let go. */
  void holdBackAnswersTo(Predicate<Claim> claims) {
    letGo = new CompletableFuture<>();
    late = claims;
  }

  void letAnswersGo() {
    late = claim -> false;
    letGo.complete(null);
  }

  /** Attempts of such claims reach it when they are let go. */
  void holdBackAttempts(Predicate<Claim> claims) {
    arrival = new CompletableFuture<>();
    later = claims;
  }

  void letAttemptsGo() {
    later = claim -> false;
    arrival.complete(null);
  }

  /** It ends the next hold that is renewed, as if it had been started anew in that moment. */
  void losesTheNextHold() {
    forgetful.set(true);
  }

  private void lose(Claim claim) {
    memory.show(claim.lock()).toCompletableFuture().join().stream()
        .flatMap(view -> view.holders().stream())
        .filter(holder -> holder.id().equals(claim.id()) && forgetful.compareAndSet(true, false))
        .forEach(holder -> memory.evict(claim.lock(), holder.token()));
  }

  /** From now on it answers all but its doctor, say for want of another connection. */
  void cannotBeExamined() {
    unexaminable = true;
  }

  @Override
  public List<Finding> diagnose() {
    if (unexaminable) {
      throw new StoreUnavailableException(name + ": too many clients");
    }
    return List.of(new Finding(Level.OK, "in memory", ""));
  }

  /** From now on it answers on the thread that asks. */
  void keepsThreads() {
    blocking = true;
  }

  /** What it grants above a floor is so much larger than need be, as if its clock were ahead. */
  void isAheadBy(long tokens) {
    ahead = tokens;
  }

  /** It does not say who it is. */
  void isMute() {
    mute = true;
  }

  /** It says who it is {@code nanos} after the question, or after its last answer to one. */
  void isSlowToSayWhoItIs(Time time, long nanos) {
    saysWho = time;
    saysWhoIn = nanos;
  }

  /** It does not vote until it is raised. */
  void forgetsItsTokens() {
    raisedTo = -1;
  }

  void votesIn(Duration time) {
    votesIn = time;
  }

  /** Its time is over when it has been asked once. */
  void votesAfterOneQuestion() {
    votesIn = Duration.ofMillis(1);
    onceMore = true;
  }

  /** -1 until it is. */
  long raisedTo() {
    return raisedTo;
  }

  @Override
  public void joinQuorum(Duration longestLease) {}

  @Override
  public CompletionStage<Incarnation> incarnation() {
    if (mute) {
      return new CompletableFuture<>();
    }
    Incarnation now = new Incarnation(name, votesIn, 0, raisedTo >= 0, 0);
    if (onceMore) {
      votesIn = Duration.ZERO;
    }
    Time time = saysWho;
    if (time == null) {
      return CompletableFuture.completedFuture(now);
    }
    CompletableFuture<Incarnation> answer = new CompletableFuture<>();
    saidWhoAt = Math.max(saidWhoAt, time.nanos()) + saysWhoIn;
    time.after(saidWhoAt - time.nanos(), () -> answer.complete(now));
    return answer;
  }

  @Override
  public CompletionStage<Void> raise(Incarnation known, long above) {
    raisedTo = above;
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletionStage<Void> trust() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    if (blocking && later.test(claim)) {
      arrival.join();
    }
    CompletionStage<Void> when = late.test(claim) ? letGo : now;
    Claim asked =
        new Claim(
            claim.lock(),
            claim.id(),
            claim.mode(),
            claim.lease(),
            claim.minHold(),
            claim.queues(),
            claim.tokens(),
            claim.tokenFloor() + ahead,
            claim.unsettled(),
            claim.holder());
    return (later.test(claim) ? arrival : now)
        .thenCompose(arrived -> memory.attempt(asked, bell))
        .thenCombine(when, (standing, go) -> standing);
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    claims.forEach(this::lose);
    return memory.renew(claims);
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return memory.withdraw(claim);
  }

  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    return memory.list(limit);
  }

  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return memory.show(lock);
  }

  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return memory.evict(lock, token);
  }

  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return memory.setKind(lock, kind);
  }

  @Override
  public boolean blocks() {
    return blocking;
  }

  @Override
  public String describe() {
    return name;
  }

  /** Its close fails, as for want of a thread. */
  void cannotBeClosed() {
    uncloseable = true;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
    if (uncloseable) {
      throw new OutOfMemoryError("for a test");
    }
  }
}
