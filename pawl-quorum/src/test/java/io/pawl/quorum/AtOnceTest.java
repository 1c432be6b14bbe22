package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Clients that try a free lock at the same moment and do not wait, as machines do that start a job
 * by their clocks: were all of them refused, nobody would run it.
 */
class AtOnceTest {

  private static final int MOMENTS = 150;
  private static final long MICRO = 1_000;
  private static final long MILLI = 1_000_000;
  private static final String LOCK = "job";

  /** Clients of some nodes in one network. */
  private static final class Moment {
    private final World world = new World();
    private final Random random;
    private final List<SimulatedNode.Server> servers = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();

    Moment(long seed, int count) {
      this(seed, 3, count);
    }

    Moment(long seed, int nodes, int count) {
      random = new Random(seed);
      for (int i = 0; i < nodes; i++) {
        long ahead = random.nextInt(300);
        servers.add(
            new SimulatedNode.Server(world, "node " + i, () -> 2 * (world.epochMicros() + ahead)));
      }
      for (int i = 0; i < count; i++) {
        clients.add(new Client("client" + i, seed + i));
      }
    }

    private final class Client {
      private final String name;
      private final QuorumLocks locks;
      private Mode mode = Mode.EXCLUSIVE;
      private long deafUntil;
      private boolean holds;

      Client(String name, long seed) {
        this.name = name;
        List<SimulatedNode> stores =
            servers.stream().map(server -> new SimulatedNode(world, server, this::delay)).toList();
        this.locks = SimulatedNode.locks(world, stores, QuorumOptions.defaults(), seed);
      }

      private long delay() {
        long deaf = Math.max(0, deafUntil - world.now());
        return deaf + (100 + random.nextInt(400)) * MICRO;
      }

      private Claim claim(String lock) {
        return new Claim(
            lock,
            new ClaimId(name, lock.hashCode()),
            mode,
            Duration.ofSeconds(30),
            Duration.ZERO,
            false,
            1,
            0,
            false,
            new Holder("host", 1, "thread", "", ""));
      }

      /** Its process hears nothing for so long, from when it has asked. */
      void tries(long deafNanos) {
        Claim claim = claim(LOCK);
        locks
            .attempt(claim, rung -> {})
            .whenComplete(
                (standing, error) -> {
                  holds = standing instanceof Standing.Held;
                  if (!holds) {
                    locks.withdraw(claim.asUnsettled());
                  }
                });
        deafUntil = world.now() + deafNanos;
      }

      /** Asks for another lock while {@code node} stands still. */
      void meetsASilentNode(int node) {
        servers.get(node).standsStill = true;
        Claim other = claim("other");
        locks.attempt(other, rung -> {});
        world.run(3_000 * MILLI);
        servers.get(node).standsStill = false;
        locks.withdraw(other);
        world.run(1_000 * MILLI);
      }
    }

    long holders() {
      world.run(3_000 * MILLI);
      return clients.stream().filter(client -> client.holds).count();
    }
  }

  /** Their JVM starts, collects garbage, or has no core at that moment. */
  @ParameterizedTest
  @CsvSource({"2, 1, 80", "3, 1, 80", "3, 3, 80", "5, 5, 80", "3, 3, 300", "5, 5, 300"})
  void p6_someoneGetsIn_ofThoseThatTryAtOnce_thoughSomeHearTheirNodesLate(
      int count, int late, int millis) {
    for (int seed = 0; seed < MOMENTS; seed++) {
      Moment moment = new Moment(seed, count);
      for (int i = 0; i < count; i++) {
        double share = late == 1 ? 1 : 0.3 + 0.7 * moment.random.nextDouble();
        long deaf = i < late ? (long) (share * millis * MILLI) : 0;
        Moment.Client client = moment.clients.get(i);
        moment.world.later(moment.random.nextInt(500) * MICRO, () -> client.tries(deaf));
      }

      assertThat(moment.holders()).as("moment %d", seed).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 80", "3, 80", "2, 300", "3, 300"})
  void p6_someoneGetsIn_ofReadersAndAWriterThatTryAtOnce_thoughAllHearTheirNodesLate(
      int count, int millis) {
    for (int seed = 0; seed < MOMENTS; seed++) {
      Moment moment = new Moment(seed, count);
      for (int i = 0; i < count; i++) {
        long deaf = (long) ((0.3 + 0.7 * moment.random.nextDouble()) * millis * MILLI);
        Moment.Client client = moment.clients.get(i);
        client.mode = i == 0 ? Mode.EXCLUSIVE : Mode.SHARED;
        moment.world.later(moment.random.nextInt(500) * MICRO, () -> client.tries(deaf));
      }

      assertThat(moment.holders()).as("moment %d", seed).isPositive();
    }
  }

  @Test
  void p6_someoneGetsIn_ofThoseThatTryAtOnce_thoughOneFoundANodeSilentAnHourAgo() {
    for (int seed = 0; seed < MOMENTS; seed++) {
      Moment moment = new Moment(seed, 2);
      moment.clients.get(0).meetsASilentNode(Math.floorMod(LOCK.hashCode(), 3));
      moment.world.run(3_600_000 * MILLI);
      for (Moment.Client client : moment.clients) {
        moment.world.later(moment.random.nextInt(500) * MICRO, () -> client.tries(0));
      }

      assertThat(moment.holders()).as("moment %d", seed).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({"3, 1, 2", "3, 1, 5", "5, 1, 3", "5, 2, 2", "5, 2, 5"})
  void p6_someoneGetsIn_ofThoseThatTryAtOnce_thoughAMinorityIsSilent(
      int nodes, int silent, int count) {
    for (int seed = 0; seed < MOMENTS; seed++) {
      Moment moment = new Moment(seed, nodes, count);
      for (int i = 0; i < silent; i++) {
        moment.servers.get((seed + i) % nodes).standsStill = true;
      }
      for (Moment.Client client : moment.clients) {
        moment.world.later(moment.random.nextInt(500) * MICRO, () -> client.tries(0));
      }

      assertThat(moment.holders()).as("moment %d", seed).isEqualTo(1);
    }
  }
}
