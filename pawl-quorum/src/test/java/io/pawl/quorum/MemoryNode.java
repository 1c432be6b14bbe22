package io.pawl.quorum;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
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

/** A store in memory as a node, which only a test may have. */
final class MemoryNode implements QuorumNode, Inspectable {

  private final MemoryStore memory;
  private final String name;

  MemoryNode(MemoryStore memory, String name) {
    this.memory = memory;
    this.name = name;
  }

  @Override
  public void joinQuorum(Duration longestLease) {}

  @Override
  public CompletionStage<Incarnation> incarnation() {
    return CompletableFuture.completedFuture(new Incarnation(name, Duration.ZERO));
  }

  @Override
  public CompletionStage<Void> trust() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    return memory.attempt(claim, bell);
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
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
  public String describe() {
    return name;
  }

  @Override
  public void close() {}
}
