package io.pawl.checker;

import io.pawl.checker.Tenure.End;
import io.pawl.checker.Verdict.Findings;

/**
 * A loss is told once, before a holder that asks is answered that its lease is not valid any more,
 * and what was lost is valid never again.
 */
final class LossTold {

  static final String PROMISE = "P5 loss is told: once, and before the first answer that says so";

  private LossTold() {}

  /**
   * @param graceNanos how much later than that answer it may be told: {@code isValid} waits for
   *     callbacks for a bounded time
   */
  static Verdict judge(History history, long graceNanos) {
    Findings findings = new Findings(PROMISE);
    for (Tenure tenure : history.tenures()) {
      check(tenure, graceNanos, findings);
    }
    return findings.verdict();
  }

  private static void check(Tenure tenure, long graceNanos, Findings findings) {
    Tenure.Loss loss = tenure.loss();
    if (loss.told() > 1) {
      findings.add("the loss of %s was told %d times", tenure, loss.told());
    }
    if (tenure.end() == End.RELEASED && loss.told() > 0) {
      findings.add("%s was released, and yet its loss was told", tenure);
    }
    if (tenure.end() == End.LOST && loss.told() == 0) {
      findings.add("%s was lost, and nobody was told", tenure);
    }
    boolean isLate = loss.foundAt() != Span.OPEN && loss.toldAt() - graceNanos > loss.foundAt();
    if (tenure.end() == End.LOST && loss.told() > 0 && isLate) {
      findings.add(
          "the loss of %s was told %d ms after it was found out",
          tenure, (loss.toldAt() - loss.foundAt()) / 1_000_000);
    }
    if (loss.told() > 0 && !tenure.valid().isEmpty() && tenure.valid().until() > loss.toldAt()) {
      findings.add("%s was valid after its loss had been told", tenure);
    }
  }
}
