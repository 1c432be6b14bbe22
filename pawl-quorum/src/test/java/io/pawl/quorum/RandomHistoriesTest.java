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
 * Random histories in virtual time: a minority is away, stands still, loses its replies or abstains
 * now and then, some messages are late, some nodes are further from some clients, answers and bells
 * come in any order, claims are given up half-way, holds are renewed and downgraded. At no time do
 * two hold what excludes them, tokens grow, no hold is lost once faults have been over for three
 * leases, at the end everybody is served, and nothing is left at any node.
 */
class RandomHistoriesTest {

  private static final int HISTORIES = 400;
  private static final int CLIENTS = 4;
  private static final long SECOND = 1_000_000_000L;
  private static final Duration LEASE = Duration.ofSeconds(4);
  private static final long PERIOD = LEASE.toNanos() / 3;

  /** As long as a hold may be believed in, by the slowest of clocks. */
  private static final long VALID = LEASE.toNanos() / 100 * 98;

  private static final String LOCK = "history";

  private static final class History {
    private final World world = new World();
    private final Random random;
    private final Network network;
    private final List<Actor> actors = new ArrayList<>();
    private final Set<Actor> inside = new HashSet<>();
    private final List<String> wrongs = new ArrayList<>();
    private long lastToken;
    private long lastExclusiveToken;
    private int grants;
    private int renewals;

    History(int nodes, long seed) {
      random = new Random(seed);
      network = new Network(world, random, nodes);
      QuorumOptions options =
          QuorumOptions.defaults()
              .nodeTimeout(Duration.ofMillis(random.nextBoolean() ? 500 : 2_000));
      for (int client = 0; client < CLIENTS; client++) {
        List<SimulatedNode> stores = network.stores();
        QuorumLocks locks = SimulatedNode.locks(world, stores, options, 3 * seed + client);
        for (int i = 1 + random.nextInt(2); i > 0; i--) {
          actors.add(new Actor("client-" + client, 100_000 * i, locks));
        }
      }
    }

    void plays() {
      actors.forEach(actor -> world.later(network.within(SECOND / 10), actor::asks));
      world.later(
          network.within(SECOND), () -> network.impairs(network.servers().size() / 2, 2 * SECOND));
      world.run(60 * SECOND);
      network.calms();
      world.run(90 * SECOND);

      assertThat(wrongs).isEmpty();
      assertThat(grants).isPositive();
      assertThat(renewals).isPositive();
      assertThat(actors).as("who is not served").allMatch(actor -> actor.claim == null);
      assertThat(network.servers()).as("what is left").noneMatch(server -> server.isHeld(LOCK));
    }

    /** Asks, holds and gives back as the engine does, again and again. */
    private final class Actor {
      private final String client;
      private final QuorumLocks locks;
      private long number;
      private @Nullable Claim claim;

      /** What it was last told was asked for then. */
      private long coveredFrom;

      private Standing.@Nullable Held hold;
      private boolean downgraded;

      Actor(String client, long number, QuorumLocks locks) {
        this.client = client;
        this.number = number;
        this.locks = locks;
      }

      private boolean isExclusive() {
        return claim != null && claim.mode() == Mode.EXCLUSIVE && !downgraded;
      }

      void asks() {
        if (network.isCalm()) {
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
        hold = null;
        downgraded = false;
        coveredFrom = world.now();
        attempts(next);
        if (random.nextInt(8) == 0) {
          world.later(network.within(SECOND / 5), () -> givesUp(next));
        }
      }

      private void attempts(Claim asked) {
        long sentAt = world.now();
        locks
            .attempt(asked, rung -> hears(asked, rung, coveredFrom))
            .whenComplete((told, error) -> answered(asked, told, sentAt, () -> attempts(asked)));
      }

      /** Who waits, and who holds. */
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
        if (asked != claim) {
          return;
        }
        if (told == null) {
          world.later(SECOND / 10, () -> onceMore(asked, again));
        } else if (hold != null) {
          kept(asked, hold, told, sentAt);
        } else {
          hears(asked, told, sentAt);
        }
      }

      private void onceMore(Claim asked, Runnable again) {
        if (asked == claim) {
          again.run();
        }
      }

      private void hears(Claim asked, Standing told, long from) {
        if (asked != claim || hold != null) {
          return;
        }
        if (told instanceof Standing.Held held) {
          coveredFrom = Math.max(coveredFrom, from);
          if (coveredFrom + VALID > world.now()) {
            enters(held);
            stays(asked);
          } else {
            world.later(0, () -> renews(asked));
          }
        } else if (told instanceof Standing.Waiting waiting) {
          coveredFrom = Math.max(coveredFrom, from);
          long pause = Math.min(waiting.askAgain().toNanos(), PERIOD);
          world.later(pause, () -> onceMore(asked, () -> renews(asked)));
        } else {
          givesUp(asked);
        }
      }

      private void stays(Claim held) {
        long stay = network.within(random.nextBoolean() ? SECOND / 5 : 4 * LEASE.toNanos());
        watches(held);
        world.later(coveredFrom + PERIOD - world.now(), () -> onceMore(held, () -> renews(held)));
        world.later(stay, () -> leaves(held));
        if (isExclusive() && random.nextInt(4) == 0) {
          world.later(network.within(stay), () -> downgrades(held));
        }
      }

      /** Its own deadline. */
      private void watches(Claim held) {
        world.later(
            coveredFrom + VALID - world.now(),
            () -> {
              if (held != claim) {
                return;
              }
              if (coveredFrom + VALID <= world.now()) {
                loses(held, "its time is over");
              } else {
                watches(held);
              }
            });
      }

      private void kept(Claim held, Standing.Held before, Standing told, long sentAt) {
        if (told instanceof Standing.Held now && now.isSameAs(before)) {
          coveredFrom = Math.max(coveredFrom, sentAt);
          renewals++;
          world.later(sentAt + PERIOD - world.now(), () -> onceMore(held, () -> renews(held)));
        } else {
          loses(held, "told " + told);
        }
      }

      private void loses(Claim held, String why) {
        if (network.isSoundFor(3 * LEASE.toNanos())) {
          wrongs.add(held + " is lost without a fault, " + why + ", at " + world.now());
        }
        leaves(held);
      }

      private void downgrades(Claim held) {
        if (held == claim) {
          downgraded = true;
          shares(held);
        }
      }

      private void shares(Claim held) {
        locks
            .attempt(held.as(Mode.SHARED), rung -> {})
            .whenComplete(
                (told, error) -> {
                  Standing.Held before = hold;
                  if (held != claim || before == null) {
                    return;
                  }
                  if (told == null) {
                    world.later(SECOND / 10, () -> onceMore(held, () -> shares(held)));
                  } else if (!(told instanceof Standing.Held now && now.isSameAs(before))) {
                    loses(held, "told " + told + " of a downgrade");
                  }
                });
      }

      private void enters(Standing.Held held) {
        hold = held;
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
        if (held == claim) {
          inside.remove(this);
          ends(held);
        }
      }

      private void givesUp(Claim asked) {
        if (asked == claim && hold == null) {
          ends(asked.asUnsettled());
        }
      }

      private void ends(Claim ended) {
        claim = null;
        hold = null;
        withdraws(ended);
        world.later(network.within(SECOND / 20), this::asks);
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
