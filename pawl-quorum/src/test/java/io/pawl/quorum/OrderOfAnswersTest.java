package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two requests for one claim, under way to one node, may arrive and be told in either order, and a
 * bell before or after both: each is on a thread of its own, which may stand still. In virtual
 * time, where chance draws how long each takes.
 */
class OrderOfAnswersTest {

  private static final int SEEDS = 2_000;
  private static final int WAITERS = 6;
  private static final int MICRO = 1_000;
  private static final int MILLI = 1_000_000;

  /** Two clients, whose claims stand in line by turns. */
  private static final class Line {
    private final World world = new World();
    private final Random random;
    private final List<QuorumLocks> clients = new ArrayList<>();
    private int made;

    Line(int nodes, long seed) {
      random = new Random(seed);
      List<SimulatedNode.Server> servers = new ArrayList<>();
      for (int i = 0; i < nodes; i++) {
        long ahead = random.nextInt(3) * random.nextInt(300);
        SimulatedNode.Server server =
            new SimulatedNode.Server(world, "node " + i, () -> 2 * (world.epochMicros() + ahead));
        server.answersAreLater = this::late;
        server.bellsAreLater = this::late;
        server.attemptsOvertake = true;
        server.withdrawalsOvertake = true;
        servers.add(server);
      }
      QuorumOptions options = QuorumOptions.defaults().nodeTimeout(Duration.ofSeconds(5));
      for (int client = 0; client < 2; client++) {
        List<SimulatedNode> stores =
            servers.stream()
                .map(server -> new SimulatedNode(world, server, this::onTheWay))
                .toList();
        clients.add(SimulatedNode.locks(world, stores, options, 2 * seed + client));
      }
    }

    private long onTheWay() {
      int percent = random.nextInt(100);
      return percent < 70
          ? 50 * MICRO + random.nextInt(100 * MICRO)
          : random.nextInt(percent < 95 ? 5 * MILLI : 60 * MILLI);
    }

    private long late() {
      int percent = random.nextInt(100);
      return percent < 60 ? 0 : random.nextInt(percent < 90 ? 2 * MILLI : 30 * MILLI);
    }

    /** The client of a waiter. */
    private QuorumLocks client(int waiter) {
      return clients.get(waiter % clients.size());
    }

    private Claim claim(int waiter) {
      String client = "client-" + waiter % clients.size();
      return Claims.exclusive("lock", client, ++made, Duration.ofSeconds(20));
    }

    private <T> T answer(CompletionStage<T> stage) {
      for (int i = 0; i < 100_000 && !stage.toCompletableFuture().isDone(); i++) {
        world.run(100 * MICRO);
      }
      return stage.toCompletableFuture().getNow(null);
    }

    private Claim asked(int waiter, Class<? extends Standing> expected) {
      Claim claim = claim(waiter);
      assertThat(answer(client(waiter).attempt(claim, rung -> {}))).isInstanceOf(expected);
      return claim;
    }

    private Standing renewed(int waiter, Claim claim) {
      return answer(client(waiter).renew(List.of(claim))).get(claim.id());
    }

    void isServedInOrder() {
      Claim holder = asked(0, Standing.Held.class);
      List<Claim> line = new ArrayList<>();
      for (int i = 0; i < WAITERS; i++) {
        line.add(asked(i, Standing.Waiting.class));
      }
      answer(client(0).withdraw(holder));
      for (int i = 0; i < WAITERS; i++) {
        assertThat(renewed(i, line.get(i))).as("waiter %s", i).isInstanceOf(Standing.Held.class);
        for (int later = i + 1; later < WAITERS; later++) {
          assertThat(renewed(later, line.get(later)))
              .as("waiter %s behind %s", later, i)
              .isInstanceOf(Standing.Waiting.class);
        }
        answer(client(i).withdraw(line.get(i)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void waitersAreServedInOrder(int nodes) {
    for (int seed = 0; seed < SEEDS; seed++) {
      Line line = new Line(nodes, seed);
      assertThat(seed).satisfies(number -> line.isServedInOrder());
    }
  }
}
