package io.pawl.checker;

import io.pawl.checker.Verdict.Findings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * No write was accepted after one with a larger token, and nobody was refused who held its lease:
 * then a larger token had been granted too early.
 */
final class FencedWrites {

  static final String PROMISE = "P3 fenced safety: no earlier holder writes after a later one";

  private FencedWrites() {}

  static Verdict judge(History history) {
    Findings findings = new Findings(PROMISE);
    Groups.by(Write::resource, history.writes()).values().forEach(some -> check(some, findings));
    return findings.verdict();
  }

  private static void check(List<Write> writes, Findings findings) {
    List<Write> inOrder = new ArrayList<>(writes);
    inOrder.sort(Comparator.comparingLong(Write::number));
    long largest = Long.MIN_VALUE;
    for (Write write : inOrder) {
      if (write.isAccepted() && write.token() < largest) {
        findings.add(
            "%s: the write with token %d was accepted after one with %d",
            write.resource(), write.token(), largest);
      }
      if (!write.isAccepted() && write.wasValid()) {
        findings.add(
            "%s: the write with token %d was refused, though its lease was valid",
            write.resource(), write.token());
      }
      if (write.isAccepted()) {
        largest = Math.max(largest, write.token());
      }
    }
  }
}
