package io.pawl.checker;

import io.pawl.checker.Take.Outcome;
import io.pawl.checker.Verdict.Findings;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is left of a counter is what it had, less what was taken; takes of which nobody knows what
 * became may or may not be part of it.
 */
final class Conservation {

  static final String PROMISE = "P7 conservation: what was told as taken is what is gone";

  private Conservation() {}

  static Verdict judge(History history) {
    Findings findings = new Findings(PROMISE);
    Map<String, List<Take>> takes = Groups.by(Take::counter, history.takes());
    for (Stock stock : history.stocks()) {
      check(stock, takes.getOrDefault(stock.counter(), List.of()), findings);
    }
    return findings.verdict();
  }

  private static void check(Stock stock, List<Take> takes, Findings findings) {
    long taken = 0;
    long perhapsMore = 0;
    long perhapsLess = 0;
    Set<String> ids = new HashSet<>();
    for (Take take : takes) {
      if (!ids.add(take.id())) {
        findings.add("%s: id %s is in the history twice", stock.counter(), take.id());
      }
      if (take.outcome() == Outcome.APPLIED) {
        taken += take.amount();
      } else if (take.outcome() == Outcome.UNKNOWN) {
        perhapsMore += Math.max(take.amount(), 0);
        perhapsLess += Math.min(take.amount(), 0);
      }
      boolean isAnswered = take.outcome() == Outcome.APPLIED || take.outcome() == Outcome.REFUSED;
      if (isAnswered && take.hasValue() && take.value() < stock.floor()) {
        findings.add(
            "%s: take %s was told a value of %d, below the floor of %d",
            stock.counter(), take.id(), take.value(), stock.floor());
      }
    }
    long gone = stock.before() - stock.after();
    if (gone < taken + perhapsLess || gone > taken + perhapsMore) {
      findings.add(
          "%s: %d of %d are gone, though %d were told as taken and at most %d more may have been",
          stock.counter(), gone, stock.before(), taken, perhapsMore);
    }
    if (stock.after() < stock.floor()) {
      findings.add(
          "%s: %d is below the floor of %d", stock.counter(), stock.after(), stock.floor());
    }
  }
}
