package io.pawl.lab.chaos;

import io.pawl.checker.Checker;
import io.pawl.checker.Encounter;
import io.pawl.checker.History;
import io.pawl.checker.Span;
import io.pawl.checker.Take;
import io.pawl.checker.Take.Outcome;
import io.pawl.checker.Tenure;
import io.pawl.checker.Verdict;
import io.pawl.checker.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * When replicas took over, and what they did not know. Redis replicates behind its answers: what
 * was acknowledged last may be gone after a takeover, a renewal or a take among it. So while one
 * takes over, and for a lease, after which each holder has renewed or knows its loss, two holders
 * and forgotten takes are counted and told, but break no promise. Everything else is judged as
 * ever, all along: tokens, fences, losses, waits, and that a counter's value agrees with the ids
 * that it remembers.
 */
final class Takeovers {

  private static final String HOLDERS = "P1";
  private static final String LOSS = "P5";

  /** How far a replica of a busy machine lags behind, at most. */
  private static final long LAG_MILLIS = 500;

  private final long leaseMillis;
  private final List<Span> spans = new ArrayList<>();
  private List<String> holders = List.of();
  private int forgotten;

  Takeovers(long leaseMillis) {
    this.leaseMillis = leaseMillis;
  }

  /**
   * Notes one.
   *
   * @param began before the primary was gone
   * @param ended when the old primary was a replica
   */
  void add(long began, long ended) {
    spans.add(
        new Span(
            began - TimeUnit.MILLISECONDS.toNanos(LAG_MILLIS),
            ended + TimeUnit.MILLISECONDS.toNanos(leaseMillis)));
  }

  boolean cover(Span span) {
    return spans.stream().anyMatch(span::overlaps);
  }

  /** What a take has come to that was told while a replica took over. */
  Outcome remembered(Take told, Outcome asked) {
    if (told.outcome() == Outcome.APPLIED && asked != Outcome.APPLIED) {
      forgotten++;
      return Outcome.UNCHANGED;
    }
    // what refused it may be forgotten
    return told.outcome() == Outcome.REFUSED ? Outcome.UNCHANGED : told.outcome();
  }

  /** Judges what is promised. */
  List<Verdict> judge(Checker checker, History history) {
    List<Verdict> verdicts = new ArrayList<>(checker.judge(cut(history)));
    if (spans.isEmpty()) {
      return verdicts;
    }
    Checker quick = new Checker(checker.waitBoundNanos(), checker.toldGraceNanos(), 1);
    List<Verdict> whole = quick.judge(history);
    List<Verdict> afterwards =
        quick.judge(
            History.EMPTY.withTenures(history.tenures().stream().map(this::afterwards).toList()));
    holders = named(HOLDERS, whole).violations();
    verdicts.replaceAll(
        verdict ->
            verdict.promise().startsWith(LOSS)
                ? named(LOSS, whole)
                : verdict.promise().startsWith(HOLDERS) && verdict.isKept()
                    ? named(HOLDERS, afterwards)
                    : verdict);
    return verdicts;
  }

  private static Verdict named(String promise, List<Verdict> verdicts) {
    return verdicts.stream()
        .filter(verdict -> verdict.promise().startsWith(promise))
        .findFirst()
        .orElseThrow();
  }

  /** Leaves out what replicas that took over may not have known. */
  private History cut(History history) {
    if (spans.isEmpty()) {
      return history;
    }
    Set<String> doubtful =
        history.tenures().stream()
            .filter(tenure -> cover(life(tenure)))
            .map(tenure -> writer(tenure.lock(), tenure.token()))
            .collect(Collectors.toSet());
    return history
        .withTenures(history.tenures().stream().map(this::before).toList())
        .withEncounters(
            history.encounters().stream()
                .map(met -> new Encounter(before(met.visitor()), before(met.occupant())))
                .toList())
        .withWrites(
            history.writes().stream()
                .map(
                    write ->
                        doubtful.contains(writer(write.resource(), write.token()))
                            ? new Write(
                                write.resource(),
                                write.number(),
                                write.token(),
                                write.isAccepted(),
                                false)
                            : write)
                .toList());
  }

  private static String writer(String lock, long token) {
    return lock + " " + token;
  }

  private static Span life(Tenure tenure) {
    Span closing = tenure.closing();
    long until = closing.until() == Span.OPEN ? tenure.valid().until() : closing.until();
    return new Span(tenure.acquiring().from(), Math.max(tenure.acquiring().until(), until));
  }

  /** A lease that met a takeover: valid for certain until that, and nobody knows how it ended. */
  private Tenure before(Tenure tenure) {
    long from =
        spans.stream().filter(life(tenure)::overlaps).mapToLong(Span::from).min().orElse(Span.OPEN);
    return from == Span.OPEN
        ? tenure
        : with(
            tenure,
            new Span(tenure.valid().from(), Math.min(tenure.valid().until(), from)),
            Tenure.End.UNKNOWN);
  }

  /** The same lease as far as it was valid when that was over. */
  private Tenure afterwards(Tenure tenure) {
    long until =
        spans.stream()
            .filter(life(tenure)::overlaps)
            .mapToLong(Span::until)
            .max()
            .orElse(Long.MIN_VALUE);
    return with(
        tenure,
        new Span(Math.max(tenure.valid().from(), until), tenure.valid().until()),
        tenure.end());
  }

  private static Tenure with(Tenure tenure, Span valid, Tenure.End end) {
    return new Tenure(
        tenure.lock(),
        tenure.holder(),
        tenure.share(),
        tenure.token(),
        tenure.acquiring(),
        valid,
        end,
        tenure.closing(),
        tenure.loss());
  }

  /** Says in Markdown what is not promised, and happened or did not. */
  List<String> told() {
    if (spans.isEmpty()) {
      return List.of();
    }
    List<String> lines = new ArrayList<>();
    lines.add(
        "- a replica took over "
            + spans.size()
            + " times; not promised there: **"
            + holders.size()
            + "** times two holders, **"
            + forgotten
            + "** takes forgotten that had been told");
    holders.forEach(pair -> lines.add("  - " + pair));
    return lines;
  }
}
