package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Pawl;
import io.pawl.checker.Checker;
import io.pawl.checker.Stock;
import io.pawl.checker.Verdict;
import io.pawl.checker.Verdict.Ruling;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import io.pawl.lab.chaos.BrokenStore.Bug;
import io.pawl.lab.chaos.Stocks.Counted;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The players, notebooks, witnesses and checkers of a chaos run, in one JVM with two clients, find
 * each old bug of lock services, and nothing where there is none.
 */
class PlantedBugsTest {

  private static final Duration LEASE = Duration.ofMillis(300);
  private static final int MOST_ROUNDS = 40;
  private static final long STUCK_MILLIS = 4_000;
  private static final Checker CHECKER =
      new Checker(TimeUnit.SECONDS.toNanos(3), TimeUnit.SECONDS.toNanos(2), 200_000);

  @TempDir Path folder;

  private volatile boolean ending;

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void eachBugIsFound(Bug bug) throws Exception {
    List<String> found = new ArrayList<>();
    for (int round = 0; round < MOST_ROUNDS && found.isEmpty(); round++) {
      for (Verdict verdict : round(bug, round)) {
        boolean isIts = verdict.promise().startsWith(bug.promise);
        if (isIts && verdict.ruling() == Ruling.BROKEN) {
          found.addAll(verdict.violations());
        }
      }
    }
    assertThat(found).as("violations of %s", bug.promise).isNotEmpty();
  }

  @Test
  void nothingIsFoundWhereNothingIsBroken() throws Exception {
    for (int round = 0; round < 3; round++) {
      assertThat(round(Bug.NONE, round)).allMatch(verdict -> verdict.ruling() != Ruling.BROKEN);
    }
  }

  private interface Turn {
    void take(Random random) throws InterruptedException;
  }

  /** The first client loses its connection for longer than its lease, and replies about takes. */
  private List<Verdict> round(Bug bug, int number) throws Exception {
    Path its = Files.createDirectory(folder.resolve("round-" + number));
    ending = false;
    List<Played> played = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    PawlOptions options =
        PawlOptions.defaults().patience(Duration.ofSeconds(2)).shutdownGrace(Duration.ZERO);
    List<Stock> stocks = new ArrayList<>();
    try (BrokenStore store = new BrokenStore(bug);
        FaultyStore faulty = new FaultyStore(store);
        Pawl first = Pawl.over(faulty, options);
        Pawl second = Pawl.over(store, options)) {
      second
          .counter(Counted.PLENTY.counter())
          .update(Update.set(Counted.PLENTY.stock), OperationId.of("stock"));
      threads.addAll(players(first, its, 0));
      threads.addAll(players(second, its, 1));
      threads.forEach(Thread::start);
      Thread.sleep(LEASE.toMillis());
      long began = System.nanoTime();
      faulty.cut();
      Thread.sleep(LEASE.toMillis() * 3 / 2);
      faulty.heal();
      faulty.next(Verb.APPLY, Fault.LOSE_REPLY, Fault.NONE, Fault.LOSE_REPLY);
      played.add(
          new Played(io.pawl.lab.chaos.Fault.Kind.CABLE_CUT, -1, "", began, System.nanoTime(), 1));
      Thread.sleep(LEASE.toMillis());
      end(threads);
      long left = second.counter(Counted.PLENTY.counter()).get();
      stocks.add(new Stock(Counted.PLENTY.counter(), Counted.PLENTY.stock, 0, left));
    }
    Chronicle chronicle =
        new Chronicle(its, List.of(0, 1), Map.of(), played, List.of(), LEASE.toNanos(), stocks);
    return CHECKER.judge(chronicle.history());
  }

  private void end(List<Thread> threads) throws InterruptedException {
    ending = true;
    long giveUpAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STUCK_MILLIS);
    for (Thread thread : threads) {
      thread.join(Math.max(1, (giveUpAt - System.nanoTime()) / 1_000_000));
    }
    for (Thread thread : threads) {
      thread.interrupt();
      thread.join();
    }
  }

  private List<Thread> players(Pawl pawl, Path its, int client) {
    Notebook notebook = Notebook.of(its, client);
    TakeNotes takes = TakeNotes.of(its, client);
    Players players =
        new Players(pawl, Referee.in(its), notebook, LockOptions.defaults().lease(LEASE));
    List<Turn> turns =
        List.of(
            random -> players.acquire(Subject.DEFAULT, random),
            random -> players.acquire(Subject.STRICT, random),
            random -> players.tryFor(Subject.DEFAULT, random),
            random -> players.tryFor(Subject.GROUP_TWO, random), // whose waiters give up
            players::writer,
            random -> players.take(takes, Counted.PLENTY, random));
    List<Thread> threads = new ArrayList<>();
    for (Turn turn : turns) {
      Random random = new Random(client * 10L + threads.size());
      threads.add(new Thread(() -> play(turn, random), "player-" + client + threads.size()));
    }
    return threads;
  }

  private void play(Turn turn, Random random) {
    try {
      while (!ending && !Thread.currentThread().isInterrupted()) {
        turn.take(random);
        Thread.sleep(1 + random.nextInt(5));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the round is over
    }
  }
}
