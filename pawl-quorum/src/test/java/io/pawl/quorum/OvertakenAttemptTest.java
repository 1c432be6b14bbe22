package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.Time;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** What is withdrawn while its attempt is being made. */
class OvertakenAttemptTest {

  private static final long SECOND = 1_000_000_000L;

  private final World world = new World();
  private final List<SimulatedNode.Server> servers = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private Runnable meanwhile = () -> {};

  /** Asked for as a claim is made. */
  private final Time time =
      new Time() {
        @Override
        public long nanos() {
          Runnable once = meanwhile;
          meanwhile = () -> {};
          once.run();
          return world.now();
        }

        @Override
        public long wallMillis() {
          return world.time().wallMillis();
        }

        @Override
        public Pending after(long delayNanos, Runnable task) {
          return world.time().after(delayNanos, task);
        }
      };

  @Test
  void p8_nothingStaysHeld_thoughTheWithdrawalOvertakesItsAttempt() {
    for (int i = 0; i < 3; i++) {
      SimulatedNode.Server server = new SimulatedNode.Server(world, "node " + i, () -> 0);
      servers.add(server);
      SimulatedNode store = new SimulatedNode(world, server, () -> 100_000);
      Node node = new Node("node " + i, () -> store, world.time(), new Lanes("test"));
      node.open();
      nodes.add(node);
    }
    QuorumLocks locks = new QuorumLocks(nodes, QuorumOptions.defaults(), time, new Random(1));
    Claim claim =
        new Claim(
            "overtaken",
            new ClaimId("client", 1),
            Mode.EXCLUSIVE,
            Duration.ofSeconds(20),
            Duration.ZERO,
            true,
            64,
            0,
            false,
            new Holder("host", 1, "thread", "", ""));
    meanwhile = () -> locks.withdraw(claim.asUnsettled());

    CompletionStage<Standing> answer = locks.attempt(claim, standing -> {});
    world.run(SECOND);

    assertThat(answer.toCompletableFuture()).isCompletedWithValue(Standing.GONE);
    assertThat(servers).noneMatch(server -> server.isHeld("overtaken"));
    assertThat(servers).allSatisfy(server -> assertThat(server.requests).isZero());
  }
}
