package io.pawl.checker;

import io.pawl.checker.Linearizability.Made;
import io.pawl.checker.Linearizability.Result;
import io.pawl.checker.Tenure.End;
import io.pawl.checker.Verdict.Ruling;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Each lock and each counter answered as one that does one thing after another. */
final class OneAfterAnother {

  static final String PROMISE = "linearizability: locks and counters do one thing after another";

  private final int mostPoints;
  private final List<String> broken = new ArrayList<>();
  private final List<String> unknown = new ArrayList<>();

  private OneAfterAnother(int mostPoints) {
    this.mostPoints = mostPoints;
  }

  /**
   * @param mostPoints of the search for one name, after which its answer is unknown
   */
  static Verdict judge(History history, int mostPoints) {
    OneAfterAnother judge = new OneAfterAnother(mostPoints);
    Groups.by(Tenure::lock, history.tenures()).forEach(judge::lock);
    Map<String, List<Take>> takes = Groups.by(Take::counter, history.takes());
    for (Stock stock : history.stocks()) {
      judge.counter(stock, takes.getOrDefault(stock.counter(), List.of()));
    }
    if (!judge.broken.isEmpty()) {
      return new Verdict(PROMISE, Ruling.BROKEN, judge.broken);
    }
    return judge.unknown.isEmpty()
        ? new Verdict(PROMISE, Ruling.KEPT, List.of())
        : Verdict.unknown(PROMISE, judge.unknown);
  }

  /** A lease that was not released ended at some time after it was last seen valid, or never. */
  private void lock(String name, List<Tenure> tenures) {
    List<Made<LockModel.Call>> calls = new ArrayList<>();
    for (Tenure tenure : tenures) {
      calls.add(new Made<>(call(tenure, true), tenure.acquiring(), true));
      boolean isReleased = tenure.end() == End.RELEASED;
      long from = tenure.valid().isEmpty() ? tenure.acquiring().from() : tenure.valid().until();
      Span ending = isReleased ? tenure.closing() : new Span(from, Span.OPEN);
      calls.add(new Made<>(call(tenure, false), ending, isReleased));
    }
    note(name, Linearizability.of(new LockModel(), calls, mostPoints));
  }

  private static LockModel.Call call(Tenure tenure, boolean takes) {
    return new LockModel.Call(takes, tenure.share(), tenure.token());
  }

  private void counter(Stock stock, List<Take> takes) {
    List<Made<Take>> calls = new ArrayList<>();
    for (Take take : takes) {
      boolean isUnknown = take.outcome() == Take.Outcome.UNKNOWN;
      if (take.outcome() != Take.Outcome.UNCHANGED) {
        Span span = isUnknown ? new Span(take.span().from(), Span.OPEN) : take.span();
        calls.add(new Made<>(take, span, !isUnknown));
      }
    }
    note(stock.counter(), Linearizability.of(new CounterModel(stock), calls, mostPoints));
  }

  private void note(String name, Result<?> result) {
    switch (result.ruling()) {
      case BROKEN -> broken.add(name + ": no order explains " + result.stuckAt());
      case UNKNOWN ->
          unknown.add(name + ": given up after " + mostPoints + " steps, at " + result.stuckAt());
      case KEPT -> {}
    }
  }
}
