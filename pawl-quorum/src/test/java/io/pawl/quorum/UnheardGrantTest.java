package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/**
 * A waiter is let in by a majority of which a node is out of reach from then on, so that its engine
 * hears of no grant: only that too few nodes have answered. It waits at the third one.
 */
class UnheardGrantTest {

  private static final long MILLI = 1_000_000;
  private static final Duration LEASE = Duration.ofSeconds(4);
  private static final int RENEWALS = 4;
  private static final long SMALL = 10;
  private static final long LARGE = 20;

  private final World world = new World();
  private final List<SimulatedNode.Server> servers = new ArrayList<>();
  private final List<SimulatedNode> others = new ArrayList<>();

  private <T> T answer(CompletionStage<T> stage) {
    CompletableFuture<T> future = stage.toCompletableFuture();
    world.run(600 * MILLI);
    return future.join();
  }

  /** What a client of other threads asks a node for, as one of the majority that it has. */
  private Claim claim(String lock, int number, long above) {
    Claim one = Claims.exclusive(lock, "other", number, Duration.ofSeconds(60));
    return new Claim(
        lock,
        one.id(),
        Mode.EXCLUSIVE,
        one.lease(),
        Duration.ZERO,
        true,
        1,
        above,
        false,
        one.holder());
  }

  private Standing take(int node, Claim claim) {
    CompletableFuture<Standing> answer =
        others.get(node).attempt(claim, rung -> {}).toCompletableFuture();
    world.run(MILLI);
    return answer.join();
  }

  private void giveBack(int node, Claim claim) {
    others.get(node).withdraw(claim);
    world.run(MILLI);
  }

  @Test
  void p2_tokensOnlyGrow_aGrantThatNobodyHeardOfIsOverOnceNoMajorityHasKeptIt() {
    List<SimulatedNode> mine = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      SimulatedNode.Server server = new SimulatedNode.Server(world, "node " + i, () -> 0);
      servers.add(server);
      mine.add(new SimulatedNode(world, server, () -> MILLI / 10));
      others.add(new SimulatedNode(world, server, () -> MILLI / 10));
    }
    QuorumLocks locks = SimulatedNode.locks(world, mine, QuorumOptions.defaults(), 1);
    String lock = "lock";
    int seat = Math.floorMod(lock.hashCode(), 3);
    int second = (seat + 1) % 3;
    int third = (seat + 2) % 3;
    Claim before = claim(lock, 1, SMALL - 1);
    take(seat, before);
    giveBack(seat, before);
    Claim atSecond = claim(lock, 2, 0);
    Claim atThird = claim(lock, 3, 0);
    take(second, atSecond);
    take(third, atThird);

    Claim waiter = Claims.exclusive(lock, "waiter", 1, LEASE);
    assertThat(answer(locks.attempt(waiter, rung -> {}))).isInstanceOf(Standing.Waiting.class);
    servers.get(seat).away = true;
    giveBack(second, atSecond);
    for (int i = 0; i < RENEWALS; i++) {
      CompletionStage<Map<ClaimId, Standing>> renewal = locks.renew(List.of(waiter));
      world.run(LEASE.toNanos() / RENEWALS);
      assertThat(renewal.toCompletableFuture()).isCompletedExceptionally();
    }
    servers.get(seat).away = false;
    Claim atSeat = claim(lock, 4, LARGE - 1);
    assertThat(take(seat, atSeat)).isEqualTo(new Standing.Held(LARGE, LARGE));
    assertThat(take(third, claim(lock, 3, LARGE - 1))).isEqualTo(new Standing.Held(LARGE, LARGE));
    giveBack(seat, atSeat);
    giveBack(third, atThird);

    Standing standing = answer(locks.renew(List.of(waiter))).get(waiter.id());

    assertThat(standing).isEqualTo(Standing.GONE);
  }
}
