package io.pawl.lab.chaos;

import io.pawl.checker.Span;
import io.pawl.checker.Verdict;
import io.pawl.checker.Verdict.Ruling;
import io.pawl.lab.chaos.Chronicle.Entry;
import io.pawl.lab.chaos.Ground.Store;
import io.pawl.lab.chaos.Notebook.End;
import io.pawl.lab.chaos.Notebook.Line;
import io.pawl.lab.chaos.Notebook.Page;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Judges what is Pawl's own, where users' code and shutdown meet it: no checker knows of it. */
final class Rim {

  private static final String BOUNDED = "bounded waits: each ends in time, whatever the store does";
  private static final String CLOSING =
      "P8 closing: nobody is let in beside a body that still runs";
  private static final String JOINED =
      "callbacks: one that waits for its body, which asks its lease, sees it end";

  /** How long a store may be silent beyond the end of a wait: LockStore.answerTime. */
  private static final long ANSWER_MILLIS = 500;

  /** How long a group waits until what it holds is given back. */
  private static final long GIVING_BACK_MILLIS = 500;

  private static final long GATES_PATIENCE_MILLIS = 500;
  private static final long WRITERS_QUEUE_MILLIS = 5_000;
  private static final int MOST_TOLD = 20;

  private final ChaosRun.Order order;
  private final Chronicle chronicle;
  private final List<Span> excuses = new ArrayList<>();

  /**
   * @param late when the machine had no time for somebody
   */
  Rim(ChaosRun.Order order, Chronicle chronicle, List<Span> late) {
    this.order = order;
    this.chronicle = chronicle;
    excuses.addAll(late);
  }

  List<Verdict> judge() {
    return List.of(
        verdict(BOUNDED, late()), verdict(CLOSING, letInEarly()), verdict(JOINED, notJoined()));
  }

  private static Verdict verdict(String promise, List<String> violations) {
    return new Verdict(
        promise,
        violations.isEmpty() ? Ruling.KEPT : Ruling.BROKEN,
        violations.subList(0, Math.min(MOST_TOLD, violations.size())));
  }

  private long allowedMillis(Page page) {
    long more =
        order.store() == Store.GATE
            ? GATES_PATIENCE_MILLIS
            : order.store() == Store.SQLITE ? WRITERS_QUEUE_MILLIS : 0;
    more += page.get(Line.SHAPE) == Shape.GROUP.ordinal() ? GIVING_BACK_MILLIS : 0;
    return page.get(Line.BOUND) + ANSWER_MILLIS + more + order.lateMillis();
  }

  /** But for a process that stood still, and a machine that had no time for somebody. */
  private List<String> late() {
    List<String> violations = new ArrayList<>();
    for (Page page : chronicle.pages()) {
      long until = page.get(Line.GRANTED) != 0 ? page.get(Line.GRANTED) : page.get(Line.ENDED);
      Span span = new Span(page.get(Line.ASKED), until);
      long millis = TimeUnit.NANOSECONDS.toMillis(until - page.get(Line.ASKED));
      boolean isExcused =
          excuses.stream().anyMatch(span::overlaps) || chronicle.wasStopped(page.jvm(), span);
      if (page.get(Line.BOUND) > 0 && until != 0 && millis > allowedMillis(page) && !isExcused) {
        violations.add(
            Chronicle.holder(page)
                + " waited for "
                + page.subject().lock()
                + " for "
                + millis
                + " ms, though it asked for "
                + page.get(Line.BOUND)
                + " ms at most");
      }
    }
    return violations;
  }

  /** A client that is closed leaves what its bodies still use to run out. */
  private List<String> letInEarly() {
    List<String> violations = new ArrayList<>();
    long lease = TimeUnit.MILLISECONDS.toNanos(order.leaseMillis()) * 9 / 10;
    for (Entry entry : chronicle.entries()) {
      Page page = entry.page();
      if (page.get(Line.SHAPE) != Shape.CLOSING.ordinal() || page.end() == End.RELEASED) {
        continue;
      }
      long runsOut = page.get(Line.ASKED) + lease;
      long left = page.get(Line.CLOSE_BEGAN);
      long until = left == 0 ? runsOut : Math.min(left, runsOut);
      for (Entry other : chronicle.entries()) {
        Page its = other.page();
        if (its.subject() == page.subject()
            && its.get(Line.TOKEN) > page.get(Line.TOKEN)
            && its.get(Line.GRANTED) > page.get(Line.GRANTED)
            && its.get(Line.GRANTED) < until) {
          violations.add(other.tenure() + " came beside the body of " + entry.tenure());
        }
      }
    }
    return violations;
  }

  private static Span joining(Page page) {
    long from = page.get(Line.TOLD_AT);
    return new Span(from, from + TimeUnit.SECONDS.toNanos(Players.JOIN_SECONDS));
  }

  private List<String> notJoined() {
    return chronicle.entries().stream()
        .filter(entry -> entry.page().get(Line.JOINED) == 2)
        .filter(entry -> !chronicle.wasStopped(entry.page().jvm(), joining(entry.page())))
        .map(entry -> "the callback of " + entry.tenure() + " waited for its body in vain")
        .toList();
  }
}
