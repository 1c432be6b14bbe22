package io.pawl.checker;

import io.pawl.checker.Verdict.Findings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Tokens of a lock are unique, and whoever asked after another one had the lease has a larger one.
 * Between two readers, and among permits, only the first holds.
 */
final class TokenOrder {

  static final String PROMISE = "P2 tokens only grow: unique, and larger than every earlier one";

  private TokenOrder() {}

  static Verdict judge(History history) {
    Findings findings = new Findings(PROMISE);
    for (List<Tenure> tenures : Groups.by(Tenure::lock, history.tenures()).values()) {
      unique(tenures, findings);
      List<Tenure> ordered =
          tenures.stream().filter(tenure -> !tenure.share().isPermits()).toList();
      grow(ordered, findings);
    }
    return findings.verdict();
  }

  private static void unique(List<Tenure> tenures, Findings findings) {
    Map<Long, Tenure> byToken = new HashMap<>();
    for (Tenure tenure : tenures) {
      Tenure other = byToken.putIfAbsent(tenure.token(), tenure);
      if (other != null) {
        findings.add("%s has the token of %s", tenure, other);
      }
    }
  }

  /**
   * Who was granted before whom is certain where the one had it before the other asked, and, since
   * they exclude each other, where the one was valid before the other was.
   */
  private static void grow(List<Tenure> tenures, Findings findings) {
    grow(
        tenures,
        tenure -> tenure.acquiring().until(),
        tenure -> tenure.acquiring().from(),
        findings);
    List<Tenure> valid = tenures.stream().filter(tenure -> !tenure.valid().isEmpty()).toList();
    grow(valid, tenure -> tenure.valid().from(), tenure -> tenure.valid().from(), findings);
  }

  /** One comes before another where its {@code had} is less than the other's {@code asked}. */
  private static void grow(
      List<Tenure> tenures,
      ToLongFunction<Tenure> had,
      ToLongFunction<Tenure> asked,
      Findings findings) {
    List<Tenure> byHad = new ArrayList<>(tenures);
    byHad.sort(Comparator.comparingLong(had));
    List<Tenure> byAsked = new ArrayList<>(tenures);
    byAsked.sort(Comparator.comparingLong(asked));
    Tenure largest = null;
    Tenure largestWriter = null;
    int past = 0;
    for (Tenure next : byAsked) {
      while (past < byHad.size() && had.applyAsLong(byHad.get(past)) < asked.applyAsLong(next)) {
        Tenure before = byHad.get(past++);
        largest = larger(largest, before);
        if (before.share().isExclusive()) {
          largestWriter = larger(largestWriter, before);
        }
      }
      Tenure before = next.share().isExclusive() ? largest : largestWriter;
      if (before != null && before.token() > next.token()) {
        findings.add("%s came after %s", next, before);
      }
    }
  }

  private static Tenure larger(@Nullable Tenure one, Tenure other) {
    return one == null || other.token() > one.token() ? other : one;
  }
}
