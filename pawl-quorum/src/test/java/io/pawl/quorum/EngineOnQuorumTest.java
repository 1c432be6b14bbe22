package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.engine.Loan;
import io.pawl.engine.QueueKey;
import io.pawl.engine.Requests;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The engine itself over a quorum in virtual time, with leases that are shorter than its patience.
 * Threads of several clients wait for all kinds of times, cancel, hold, downgrade and give back.
 *
 * <p>Harsh worlds: any number of nodes is away, stands still, loses its replies or abstains,
 * messages are late by two thirds of a second, everything stands still for longer than a lease. At
 * no time do two trusted holds exclude each other, tokens grow, and in the end everybody is served
 * and nothing is kept alive. In worlds where a minority alone is impaired no wait is longer than
 * asked for, and once all nodes have been sound for three leases nothing fails and no hold is lost.
 */
class EngineOnQuorumTest {

  private static final int WORLDS = 100;
  private static final int MILLI = 1_000_000;
  private static final long SECOND = 1_000_000_000L;
  private static final String LOCK = "lock";

  /** What an executor and the answers of several trips may add to a wait. */
  private static final long SLACK = 100 * MILLI;

  private record Simulated(QuorumLocks locks, Duration answerTime) implements LockStore {
    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      return locks.attempt(claim, bell);
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      return locks.renew(claims);
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
      return locks.withdraw(claim);
    }

    @Override
    public int renewGroup(Claim claim) {
      return locks.renewGroup(claim);
    }

    @Override
    public String describe() {
      return "simulated quorum";
    }

    @Override
    public void close() {}
  }

  private static final class Crowd {
    private final World world = new World();
    private final Random random;
    private final Network network;
    private final boolean harsh;
    private final Duration lease;
    private final Duration timeout;
    private final List<Person> persons = new ArrayList<>();
    private final List<String> wrongs = new ArrayList<>();
    private long lastToken;
    private long lastExclusiveToken;
    private int grants;

    Crowd(int nodes, boolean harsh, long seed) {
      this.random = new Random(seed);
      this.harsh = harsh;
      this.network = new Network(world, random, nodes);
      this.lease = Duration.ofMillis(any(1_000, 1_500, 3_000));
      this.timeout = Duration.ofMillis(harsh ? any(200, 500) : any(500, 1_500));
      network.reaches(harsh ? any(3, 40) : any(3, 20), harsh ? any(0, 700) : 0);
      QuorumOptions options = QuorumOptions.defaults().nodeTimeout(timeout);
      int clients = 2 + random.nextInt(4);
      for (int client = 0; client < clients; client++) {
        QuorumLocks locks =
            SimulatedNode.locks(world, network.stores(), options, 7 * seed + client);
        Executor threads =
            task -> world.later(random.nextInt(8) == 0 ? random.nextInt(2 * MILLI) : 0, task);
        Engine engine =
            new Engine(
                new Simulated(locks, timeout),
                PawlOptions.defaults(),
                world.time(),
                Workers.on(threads, Runnable::run),
                random,
                "client-" + client);
        sweeps(locks);
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
          persons.add(new Person(client + "." + i, engine));
        }
      }
    }

    private int any(int... numbers) {
      return numbers[random.nextInt(numbers.length)];
    }

    private void sweeps(QuorumLocks locks) {
      world.later(
          30 * SECOND,
          () -> {
            locks.sweep();
            sweeps(locks);
          });
    }

    private void standsStill() {
      if (!network.isCalm()) {
        world.standStill(network.within(2 * lease.toNanos()));
        world.later(network.within(20 * lease.toNanos()), this::standsStill);
      }
    }

    private boolean isSound() {
      return !harsh && network.isSoundFor(3 * lease.toNanos());
    }

    void plays() {
      int nodes = network.servers().size();
      int most = harsh && random.nextBoolean() ? nodes : nodes / 2;
      persons.forEach(person -> world.later(network.within(SECOND / 10), person::asks));
      world.later(
          network.within(SECOND),
          () -> network.impairs(most, harsh ? 3 * lease.toNanos() : 2 * SECOND));
      if (harsh && random.nextInt(3) == 0) {
        world.later(network.within(20 * lease.toNanos()), this::standsStill);
      }
      world.run(40 * SECOND);
      network.calms();
      world.run(200 * SECOND);

      assertThat(wrongs).isEmpty();
      assertThat(grants).isPositive();
      assertThat(persons).as("who still waits").noneMatch(person -> person.waits);
      assertThat(persons).as("whose engine is busy").allMatch(person -> person.engine.isIdle());
      assertThat(network.servers()).as("what is kept").noneMatch(server -> server.isKept(LOCK));
    }

    /** A thread of a client. */
    private final class Person {
      private final String name;
      private final Engine engine;
      private boolean waits;
      private @Nullable Loan loan;
      private boolean exclusive;

      Person(String name, Engine engine) {
        this.name = name;
        this.engine = engine;
      }

      private LockOptions options(Mode mode) {
        LockOptions plain = LockOptions.defaults().lease(lease);
        return switch (random.nextInt(6)) {
          case 0 -> plain.strictOrder();
          case 1 ->
              mode == Mode.EXCLUSIVE
                  ? plain.sticky(Duration.ofMillis(1 + random.nextInt(300)))
                  : plain;
          case 2 -> plain.minHold(Duration.ofMillis(random.nextInt(800)));
          default -> plain;
        };
      }

      private Duration patience() {
        return switch (random.nextInt(4)) {
          case 0 -> Duration.ZERO;
          case 1 -> Duration.ofMillis(1 + random.nextInt(100));
          case 2 -> Duration.ofMillis(random.nextInt(8_000));
          default -> Durations.LONGEST;
        };
      }

      void asks() {
        if (network.isCalm()) {
          return;
        }
        Mode mode = random.nextInt(3) == 0 ? Mode.SHARED : Mode.EXCLUSIVE;
        Duration wait = patience();
        long askedAt = world.now();
        waits = true;
        CompletableFuture<Optional<Loan>> answer =
            new Requests(engine, new QueueKey(LOCK, options(mode), mode))
                .tryAcquireAsync(wait, granted -> granted);
        answer.whenComplete(
            (granted, error) -> {
              waits = false;
              answered(wait, world.now() - askedAt, error);
              Loan got = granted == null ? null : granted.orElse(null);
              if (got == null) {
                world.later(network.within(SECOND / 20), this::asks);
              } else {
                enters(got, mode);
              }
            });
        if (random.nextInt(12) == 0) {
          world.later(network.within(SECOND / 2), () -> answer.cancel(false));
        }
      }

      private void answered(Duration wait, long took, @Nullable Throwable error) {
        if (!harsh
            && wait.compareTo(Durations.LONGEST) < 0
            && took > wait.plus(timeout).toNanos() + SLACK) {
          wrongs.add(name + " waited " + took / MILLI + " ms instead of " + wait.toMillis());
        }
        if (error != null && !(error instanceof CancellationException) && isSound()) {
          wrongs.add(name + " failed without a fault at " + world.now() + ": " + error);
        }
      }

      private void enters(Loan got, Mode mode) {
        if (!got.isTrusted()) {
          got.drop();
          loses(got);
          world.later(network.within(SECOND / 20), this::asks);
          return;
        }
        grants++;
        loan = got;
        exclusive = mode == Mode.EXCLUSIVE;
        for (Person other : persons) {
          Loan beside = other.loan;
          if (other != this
              && beside != null
              && beside.isTrusted()
              && (exclusive || other.exclusive)) {
            wrongs.add(name + " has " + got + " beside " + beside + " of " + other.name);
          }
        }
        long before = exclusive ? lastToken : lastExclusiveToken;
        if (got.token() <= before) {
          wrongs.add(name + " has " + got + " after " + before);
        }
        lastToken = Math.max(lastToken, got.token());
        lastExclusiveToken = exclusive ? lastToken : lastExclusiveToken;
        got.loss()
            .hook(
                () -> {
                  loses(got);
                  return CompletableFuture.completedFuture(null);
                });
        stays(got);
      }

      private void stays(Loan held) {
        long stay = network.within(random.nextInt(4) > 0 ? SECOND / 10 : 2 * lease.toNanos());
        world.later(stay, () -> leaves(held));
        if (exclusive && random.nextInt(6) == 0) {
          world.later(network.within(stay), () -> downgrades(held));
        }
      }

      private void downgrades(Loan held) {
        if (loan != held || !held.isTrusted()) {
          return;
        }
        exclusive = false;
        held.downgrade(false)
            .whenComplete(
                (done, error) -> {
                  if (error != null && loan == held && isSound()) {
                    wrongs.add(name + " could not downgrade " + held + ": " + error);
                  }
                });
      }

      private void loses(Loan lost) {
        if (isSound()) {
          wrongs.add(name + " lost " + lost + " without a fault at " + world.now());
        }
      }

      private void leaves(Loan held) {
        loan = null;
        try {
          if (held.end()) {
            held.giveBack(false, engine.observerLater());
          }
        } catch (LeaseLostException e) {
          loses(held);
        }
        world.later(network.within(SECOND / 20), this::asks);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void promisesHoldInAHarshWorld(int nodes) {
    for (int seed = 0; seed < WORLDS; seed++) {
      Crowd crowd = new Crowd(nodes, true, seed);
      assertThat(seed).satisfies(number -> crowd.plays());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void nothingFailsNorIsLostWithoutAFault(int nodes) {
    for (int seed = 0; seed < WORLDS; seed++) {
      Crowd crowd = new Crowd(nodes, false, seed);
      assertThat(seed).satisfies(number -> crowd.plays());
    }
  }
}
