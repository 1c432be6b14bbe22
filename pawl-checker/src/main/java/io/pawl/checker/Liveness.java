package io.pawl.checker;

import io.pawl.checker.Verdict.Findings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * While nothing is broken, nobody waits for longer than the bound beside a lock that nobody has, or
 * while somebody is served who asked later by more than the bound. Where faults leave no such time,
 * it is not known.
 */
final class Liveness {

  static final String PROMISE = "P6 someone gets in: nobody waits beside a free lock, or for ever";

  private Liveness() {}

  static Verdict judge(History history, long boundNanos) {
    Findings findings = new Findings(PROMISE);
    Map<String, List<Tenure>> tenures = Groups.by(Tenure::lock, history.tenures());
    for (Map.Entry<String, List<Wait>> lock : Groups.by(Wait::lock, history.waits()).entrySet()) {
      List<Tenure> its = tenures.getOrDefault(lock.getKey(), List.of());
      List<Span> excuses = new ArrayList<>(history.faults());
      for (Tenure tenure : its) {
        excuses.add(new Span(tenure.acquiring().until(), tenure.closing().until()));
      }
      List<Span> merged = Span.merged(excuses);
      for (Wait wait : lock.getValue()) {
        check(wait, merged, boundNanos, findings);
        overtaken(wait, its, history.faults(), boundNanos, findings);
      }
    }
    Verdict verdict = findings.verdict();
    boolean isJudged = history.faults().isEmpty() || history.calmNanos(boundNanos) > 0;
    return verdict.isKept() && !isJudged
        ? Verdict.unknown(
            PROMISE,
            List.of("faults left no time of more than " + boundNanos / 1_000_000 + " ms to judge"))
        : verdict;
  }

  /** Locks serve in the order of requests, but for moments. */
  private static void overtaken(
      Wait wait, List<Tenure> tenures, List<Span> faults, long bound, Findings findings) {
    Span span = wait.span();
    if (span.until() - span.from() <= bound) {
      return;
    }
    for (Tenure other : tenures) {
      Span its = other.acquiring();
      Span seen = new Span(span.from(), its.until());
      if (its.from() - bound > span.from()
          && its.until() < span.until()
          && faults.stream().noneMatch(seen::overlaps)) {
        findings.add(
            "%s waited for %s for %d ms, while %s was served, who asked %d ms later",
            wait.waiter(),
            wait.lock(),
            (span.until() - span.from()) / 1_000_000,
            other,
            (its.from() - span.from()) / 1_000_000);
        return;
      }
    }
  }

  private static void check(Wait wait, List<Span> excuses, long bound, Findings findings) {
    Span span = wait.span();
    if (span.until() - span.from() <= bound) {
      return;
    }
    long free = span.from();
    for (int i = firstEndingAfter(excuses, free); i < excuses.size(); i++) {
      Span excuse = excuses.get(i);
      if (Math.min(excuse.from(), span.until()) - free > bound) {
        break;
      }
      free = Math.max(free, excuse.until());
      if (free >= span.until()) {
        return;
      }
    }
    if (span.until() - free > bound) {
      findings.add(
          "%s waited for %s for %d ms, of which nobody had it and nothing was broken from %d ns on,"
              + " for more than %d ms",
          wait.waiter(),
          wait.lock(),
          (span.until() - span.from()) / 1_000_000,
          free,
          bound / 1_000_000);
    }
  }

  private static int firstEndingAfter(List<Span> merged, long moment) {
    int low = 0;
    int high = merged.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (merged.get(middle).until() < moment) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
}
