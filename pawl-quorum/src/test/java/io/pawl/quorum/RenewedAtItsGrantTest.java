package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * A waiter is renewed in the moment in which it is let in: while its first attempt at a node is on
 * its way, which another of the renewal's overtakes.
 */
class RenewedAtItsGrantTest {

  private static final long MILLI = 1_000_000;
  private static final int SEAT = 0;
  private static final int OVERTAKEN = 1;
  private static final int LATE = 2;

  private final World world = new World();
  private final List<SimulatedNode.Server> servers = new ArrayList<>();

  /** A client, whose messages to each node take so long. */
  private final class Client {
    private final long[] delays = {MILLI / 10, MILLI / 10, MILLI / 10};
    private final QuorumLocks locks;

    Client() {
      List<SimulatedNode> stores = new ArrayList<>();
      for (SimulatedNode.Server server : servers) {
        int number = stores.size();
        stores.add(new SimulatedNode(world, server, () -> delays[number]));
      }
      QuorumOptions options = QuorumOptions.defaults().nodeTimeout(Duration.ofSeconds(1));
      locks = SimulatedNode.locks(world, stores, options, 1);
    }

    Standing attempt(Claim claim) {
      CompletableFuture<Standing> answer = locks.attempt(claim, rung -> {}).toCompletableFuture();
      world.run(500 * MILLI);
      return answer.join();
    }
  }

  @Test
  void p6_someoneGetsIn_aRenewalAtTheGrantHearsOfItThoughItOvertookTheFirstAttempt() {
    for (int i = 0; i < 3; i++) {
      SimulatedNode.Server server = new SimulatedNode.Server(world, "node " + i, () -> 0);
      server.attemptsOvertake = true;
      servers.add(server);
    }
    Client holder = new Client();
    Client waiter = new Client();
    String lock = "lock";
    for (int i = 0; Math.floorMod(lock.hashCode(), 3) != SEAT; i++) {
      lock = "lock" + i;
    }
    Claim held = Claims.exclusive(lock, "holder", 1, Duration.ofSeconds(20));
    Claim waiting = Claims.exclusive(lock, "waiter", 1, Duration.ofSeconds(20));
    assertThat(holder.attempt(held)).isInstanceOf(Standing.Held.class);
    assertThat(waiter.attempt(waiting)).isInstanceOf(Standing.Waiting.class);
    holder.delays[OVERTAKEN] = 5 * MILLI;
    waiter.delays[OVERTAKEN] = 10 * MILLI;
    waiter.delays[LATE] = 100 * MILLI;

    holder.locks.withdraw(held);
    world.run(MILLI);
    waiter.delays[OVERTAKEN] = MILLI / 10;
    CompletableFuture<Map<ClaimId, Standing>> renewal =
        waiter.locks.renew(List.of(waiting)).toCompletableFuture();
    world.run(50 * MILLI);

    assertThat(renewal).isCompleted();
    assertThat(renewal.join().get(waiting.id())).isInstanceOf(Standing.Held.class);
  }
}
