package io.pawl.checker;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.checker.Take.Outcome;
import io.pawl.checker.Tenure.End;
import io.pawl.checker.Tenure.Loss;
import io.pawl.checker.Verdict.Ruling;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * Random histories of a lock and a counter that are correct pass, and each planted bug is found.
 */
class RandomHistoriesTest {

  private static final int SEEDS = 40;
  private static final Checker CHECKER = new Checker(1_000, 10, 20_000);

  /** A correct lock and a correct counter, and holders who note what they see, late as ever. */
  private static History history(long seed) {
    Random random = new Random(seed);
    List<Tenure> tenures = new ArrayList<>();
    List<Wait> waits = new ArrayList<>();
    List<Write> writes = new ArrayList<>();
    List<Encounter> encounters = new ArrayList<>();
    long now = 1_000;
    long token = 100;
    for (int turn = 0; turn < 40; turn++) {
      boolean readers = random.nextInt(3) == 0;
      int together = readers ? 1 + random.nextInt(4) : 1;
      long latest = now;
      for (int i = 0; i < together; i++) {
        token += 1 + random.nextInt(5);
        Share share = readers ? Share.SHARED : Share.EXCLUSIVE;
        Tenure tenure = tenure(random, share, token, now + random.nextInt(10));
        tenures.add(tenure);
        waits.add(new Wait("lock", tenure.holder(), tenure.acquiring()));
        long end = Math.max(tenure.valid().until(), tenure.closing().from());
        latest = Math.max(latest, tenure.end() == End.RELEASED ? end : tenure.valid().until());
        if (!readers) {
          writes.add(new Write("lock", writes.size(), token, true, true));
        }
      }
      if (random.nextInt(4) == 0 && !readers && tenures.size() > 1) {
        Tenure stale = tenures.get(tenures.size() - 2);
        writes.add(new Write("lock", writes.size(), stale.token() - 1, false, false));
        encounters.add(new Encounter(tenures.get(tenures.size() - 1), stale));
      }
      now = latest + 1 + random.nextInt(20);
    }
    encounters.removeIf(met -> met.occupant().end() == End.RELEASED);
    History locks =
        History.EMPTY
            .withTenures(tenures)
            .withWaits(waits)
            .withWrites(writes)
            .withEncounters(encounters);
    return takes(random, locks);
  }

  private static Tenure tenure(Random random, Share share, long token, long granted) {
    long from = granted + random.nextInt(5);
    long until = from + random.nextInt(50);
    Span acquiring = new Span(granted - random.nextInt(300), from);
    boolean isLost = random.nextInt(6) == 0;
    Loss loss = isLost ? new Loss(1, until + 1, until + 2) : Loss.NONE;
    End end = isLost ? End.LOST : random.nextInt(10) == 0 ? End.UNKNOWN : End.RELEASED;
    Span closing =
        end == End.UNKNOWN
            ? new Span(Span.OPEN, Span.OPEN)
            : new Span(until, until + random.nextInt(100));
    Span valid = new Span(from, until);
    return new Tenure("lock", "h" + token, share, token, acquiring, valid, end, closing, loss);
  }

  private static History takes(Random random, History locks) {
    List<Take> takes = new ArrayList<>();
    long value = 50;
    for (int i = 0; i < 60; i++) {
      long amount = 1 + random.nextInt(3);
      long at = 100L * i;
      Span span = new Span(at - random.nextInt(150), at + random.nextInt(150));
      int what = random.nextInt(30);
      if (what == 0) {
        takes.add(new Take("stock", "t" + i, amount, Outcome.UNCHANGED, 0, false, span));
      } else if (value < amount) {
        takes.add(new Take("stock", "t" + i, amount, Outcome.REFUSED, value, true, span));
      } else {
        value -= amount;
        Outcome told = what == 1 ? Outcome.UNKNOWN : Outcome.APPLIED;
        takes.add(new Take("stock", "t" + i, amount, told, value, what != 1, span));
      }
    }
    return locks.withTakes(takes, List.of(new Stock("stock", 50, 0, value)));
  }

  @Test
  void correctHistoriesPass() {
    for (long seed = 0; seed < SEEDS; seed++) {
      assertThat(CHECKER.judge(history(seed)))
          .as("seed %d", seed)
          .allMatch(verdict -> verdict.ruling() != Ruling.BROKEN)
          .filteredOn(verdict -> !verdict.promise().startsWith("lin"))
          .allMatch(Verdict::isKept);
    }
  }

  /** Plants a bug in each history where there is room for it; it must be found each time. */
  private static void planted(String promise, BiFunction<History, Random, History> bug) {
    int planted = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      History correct = history(seed);
      History broken = bug.apply(correct, new Random(seed));
      if (broken == correct) {
        continue;
      }
      planted++;
      assertThat(CHECKER.judge(broken))
          .as("seed %d", seed)
          .filteredOn(verdict -> verdict.promise().startsWith(promise))
          .singleElement()
          .matches(verdict -> verdict.ruling() == Ruling.BROKEN);
    }
    assertThat(planted).isGreaterThan(SEEDS / 2);
  }

  private static int pick(History history, Random random, Predicate<Tenure> which) {
    List<Integer> some = new ArrayList<>();
    for (int i = 1; i < history.tenures().size(); i++) {
      if (which.test(history.tenures().get(i))) {
        some.add(i);
      }
    }
    return some.isEmpty() ? -1 : some.get(random.nextInt(some.size()));
  }

  private static History changed(History history, int which, Tenure other) {
    List<Tenure> tenures = new ArrayList<>(history.tenures());
    tenures.set(which, other);
    return history.withTenures(tenures);
  }

  private static Tenure with(Tenure old, long token, Span valid, End end, Loss loss) {
    return new Tenure(
        old.lock(),
        old.holder(),
        old.share(),
        token,
        old.acquiring(),
        valid,
        end,
        old.closing(),
        loss);
  }

  @Test
  void aLeaseThatIsValidForTooLongIsFound() {
    planted(
        "P1",
        (history, random) -> {
          int last = history.tenures().size() - 1;
          int which =
              pick(
                  history,
                  random,
                  tenure ->
                      tenure.share().isExclusive()
                          && tenure.valid().until() < history.tenures().get(last).valid().from());
          if (which < 0) {
            return history;
          }
          Tenure old = history.tenures().get(which);
          Span longer = new Span(old.valid().from(), history.tenures().get(last).valid().from());
          return changed(history, which, with(old, old.token(), longer, old.end(), old.loss()));
        });
  }

  @Test
  void aTokenThatIsUsedTwiceOrFallsIsFound() {
    planted(
        "P2",
        (history, random) -> {
          int which = pick(history, random, tenure -> true);
          Tenure old = history.tenures().get(which);
          long token = history.tenures().get(which - 1).token();
          return changed(history, which, with(old, token, old.valid(), old.end(), old.loss()));
        });
    planted(
        "P2",
        (history, random) -> {
          int which = pick(history, random, tenure -> tenure.share().isExclusive());
          Tenure old = history.tenures().get(which);
          return changed(history, which, with(old, 1, old.valid(), old.end(), old.loss()));
        });
  }

  @Test
  void aStaleWriteThatIsAcceptedIsFound() {
    planted(
        "P3",
        (history, random) -> {
          List<Write> writes = new ArrayList<>(history.writes());
          for (int i = 0; i < writes.size(); i++) {
            Write old = writes.get(i);
            if (!old.isAccepted()) {
              writes.set(i, new Write(old.resource(), old.number(), old.token(), true, false));
              return history.withWrites(writes);
            }
          }
          return history;
        });
  }

  @Test
  void aLossThatIsKeptSecretIsFound() {
    planted(
        "P5",
        (history, random) -> {
          int which = pick(history, random, tenure -> tenure.end() == End.LOST);
          if (which < 0) {
            return history;
          }
          Tenure old = history.tenures().get(which);
          Loss secret = new Loss(0, Span.OPEN, old.loss().foundAt());
          return changed(history, which, with(old, old.token(), old.valid(), End.LOST, secret));
        });
  }

  @Test
  void aWaiterThatSleepsBesideAFreeLockIsFound() {
    planted(
        "P6",
        (history, random) -> {
          List<Wait> waits = new ArrayList<>(history.waits());
          long from = random.nextInt(1_000);
          waits.add(new Wait("another", "sleeper", new Span(from, from + 1_001)));
          return history.withWaits(waits);
        });
  }

  @Test
  void aTakeThatWasAppliedTwiceIsFound() {
    planted(
        "P7",
        (history, random) -> {
          Stock old = history.stocks().get(0);
          boolean isSure =
              history.takes().stream().noneMatch(take -> take.outcome() == Outcome.UNKNOWN);
          long extra = isSure ? 1 : 1_000;
          Stock less = new Stock(old.counter(), old.before(), -10_000, old.after() - extra);
          return history.withTakes(history.takes(), List.of(less));
        });
  }

  @Test
  void aValueThatWasNeverThereIsFound() {
    planted(
        "lin",
        (history, random) -> {
          List<Take> takes = new ArrayList<>(history.takes());
          for (int i = 0; i < takes.size(); i++) {
            Take old = takes.get(i);
            if (old.outcome() == Outcome.APPLIED) {
              long value = old.value() + 100;
              takes.set(
                  i,
                  new Take(
                      old.counter(),
                      old.id(),
                      old.amount(),
                      old.outcome(),
                      value,
                      true,
                      old.span()));
              return history.withTakes(takes, history.stocks());
            }
          }
          return history;
        });
  }
}
