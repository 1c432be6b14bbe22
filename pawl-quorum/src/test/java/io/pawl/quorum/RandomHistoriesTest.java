package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random histories in virtual time: a minority is away, stands still or abstains now and then, some
 * messages are late, answers and bells come in any order, claims are given up half-way. At no time
 * do two hold what excludes them, tokens grow, and once the faults are over everybody is served,
 * and nothing is left at any node.
 */
class RandomHistoriesTest {

  private static final int HISTORIES = 200;
  private static final int CLIENTS = 3;
  private static final int MILLI = 1_000_000;
  private static final long SECOND = 1_000_000_000L;
  private static final Duration LEASE = Duration.ofSeconds(4);
  private static final String LOCK = "history";

  private static final class History {
    private final World world = new World();
    private final Random random;
    private final List<SimulatedNode.Server> servers = new ArrayList<>();
    private final List<Actor> actors = new ArrayList<>();
    private final Set<Actor> inside = new HashSet<>();
    private final List<String> wrongs = new ArrayList<>();
    private long lastToken;
    private long lastExclusiveToken;
    private int grants;
    private boolean calm;

    History(int nodes, long seed) {
      random = new Random(seed);
      for (int i = 0; i < nodes; i++) {
        boolean counts = random.nextInt(4) == 0;
        long ahead = random.nextInt(3) * random.nextInt(random.nextBoolean() ? 300 : 300_000);
        SimulatedNode.Server server =
            new SimulatedNode.Server(
                world, "node " + i, () -> counts ? 0 : 2 * (world.epochMicros() + ahead));
        server.answersAreLater = this::late;
        server.bellsAreLater = this::late;
        server.withdrawalsOvertake = true;
        servers.add(server);
      }
      QuorumOptions options =
          QuorumOptions.defaults()
              .nodeTimeout(Duration.ofMillis(random.nextBoolean() ? 500 : 2_000));
      for (int client = 0; client < CLIENTS; client++) {
        List<SimulatedNode> stores =
            servers.stream()
                .map(server -> new SimulatedNode(world, server, this::onTheWay))
                .toList();
        QuorumLocks locks = SimulatedNode.locks(world, stores, options, 3 * seed + client);
        for (int i = 1 + random.nextInt(2); i > 0; i--) {
          actors.add(new Actor("client-" + client, 100_000 * i, locks));
        }
      }
    }

    private long onTheWay() {
      int percent = random.nextInt(100);
      return percent < 80
          ? MILLI / 20 + random.nextInt(MILLI / 10)
          : random.nextInt((percent < 98 ? 5 : 40) * MILLI);
    }

    private long late() {
      int percent = random.nextInt(100);
      return percent < 70 ? 0 : random.nextInt((percent < 95 ? 2 : 30) * MILLI);
    }

    private long within(long nanos) {
      return (long) (random.nextDouble() * nanos);
    }

    /** Another minority is impaired, or none. */
    private void fault() {
      for (SimulatedNode.Server server : servers) {
        server.away = false;
        server.standsStill = false;
        server.abstains = false;
      }
      if (calm) {
        return;
      }
      for (int i = random.nextInt(servers.size() / 2 + 1); i > 0; i--) {
        SimulatedNode.Server server = servers.get(random.nextInt(servers.size()));
        switch (random.nextInt(3)) {
          case 0 -> server.away = true;
          case 1 -> server.standsStill = true;
          default -> server.abstains = true;
        }
      }
      world.later(within(2 * SECOND), this::fault);
    }

    void plays() {
      actors.forEach(actor -> world.later(within(SECOND / 10), actor::asks));
      world.later(within(SECOND), this::fault);
      world.run(20 * SECOND);
      calm = true;
      world.run(90 * SECOND);

      assertThat(wrongs).isEmpty();
      assertThat(grants).isPositive();
      assertThat(actors).as("who is not served").allMatch(actor -> actor.claim == null);
      assertThat(servers).as("what is left").noneMatch(server -> server.isHeld(LOCK));
    }

    /** Asks, holds and gives back as the engine does, again and again. */
    private final class Actor {
      private final String client;
      private final QuorumLocks locks;
      private long number;
      private @Nullable Claim claim;

      /** What it was last told was asked for then: its nodes keep it for half a lease, at least. */
      private long coveredFrom;

      private boolean holds;

      Actor(String client, long number, QuorumLocks locks) {
        this.client = client;
        this.number = number;
        this.locks = locks;
      }

      private boolean isExclusive() {
        return claim != null && claim.mode() == Mode.EXCLUSIVE;
      }

      void asks() {
        if (calm) {
          return;
        }
        Claim next =
            new Claim(
                LOCK,
                new ClaimId(client, ++number),
                random.nextInt(3) == 0 ? Mode.SHARED : Mode.EXCLUSIVE,
                LEASE,
                Duration.ZERO,
                random.nextInt(5) > 0,
                1 + random.nextInt(64),
                0,
                false,
                new Holder("host", 1, "thread", "", ""));
        claim = next;
        holds = false;
        coveredFrom = world.now();
        attempts(next);
        if (random.nextInt(8) == 0) {
          world.later(within(SECOND / 5), () -> givesUp(next));
        }
      }

      private void attempts(Claim asked) {
        long sentAt = world.now();
        locks
            .attempt(asked, rung -> hears(asked, rung, coveredFrom))
            .whenComplete((told, error) -> answered(asked, told, sentAt, () -> attempts(asked)));
      }

      private void renews(Claim asked) {
        if (asked != claim) {
          return;
        }
        long sentAt = world.now();
        locks
            .renew(List.of(asked))
            .whenComplete(
                (told, error) ->
                    answered(
                        asked,
                        told == null ? null : told.get(asked.id()),
                        sentAt,
                        () -> renews(asked)));
      }

      private void answered(Claim asked, @Nullable Standing told, long sentAt, Runnable again) {
        if (told != null) {
          hears(asked, told, sentAt);
        } else if (asked == claim && !holds) {
          world.later(SECOND / 10, () -> onceMore(asked, again));
        }
      }

      private void onceMore(Claim asked, Runnable again) {
        if (asked == claim && !holds) {
          again.run();
        }
      }

      private void hears(Claim asked, Standing told, long from) {
        if (asked != claim || holds) {
          return;
        }
        if (told instanceof Standing.Held held) {
          long left = Math.max(coveredFrom, from) + LEASE.toNanos() / 2 - world.now();
          if (left > 0) {
            enters(held);
            world.later(within(Math.min(left, SECOND / 5)), () -> leaves(asked));
          } else {
            world.later(0, () -> renews(asked));
          }
        } else if (told instanceof Standing.Waiting waiting) {
          coveredFrom = Math.max(coveredFrom, from);
          long pause = Math.min(waiting.askAgain().toNanos(), LEASE.toNanos() / 3);
          world.later(pause, () -> onceMore(asked, () -> renews(asked)));
        } else {
          givesUp(asked);
        }
      }

      private void enters(Standing.Held held) {
        holds = true;
        grants++;
        for (Actor other : inside) {
          if (isExclusive() || other.isExclusive()) {
            wrongs.add(claim + " beside " + other.claim + " at " + world.now());
          }
        }
        long before = isExclusive() ? lastToken : lastExclusiveToken;
        if (held.token() <= before) {
          wrongs.add(claim + " has " + held.token() + " after " + before);
        }
        lastToken = Math.max(lastToken, held.lastToken());
        lastExclusiveToken = isExclusive() ? lastToken : lastExclusiveToken;
        inside.add(this);
      }

      private void leaves(Claim held) {
        inside.remove(this);
        ends(held);
      }

      private void givesUp(Claim asked) {
        if (asked == claim && !holds) {
          ends(asked.asUnsettled());
        }
      }

      private void ends(Claim ended) {
        claim = null;
        holds = false;
        withdraws(ended);
        world.later(within(SECOND / 20), this::asks);
      }

      private void withdraws(Claim ended) {
        locks
            .withdraw(ended)
            .whenComplete(
                (nothing, error) -> {
                  if (error != null) {
                    world.later(SECOND / 10, () -> withdraws(ended.asUnsettled()));
                  }
                });
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void promisesHold(int nodes) {
    for (int seed = 0; seed < HISTORIES; seed++) {
      History history = new History(nodes, seed);
      assertThat(seed).satisfies(number -> history.plays());
    }
  }
}
