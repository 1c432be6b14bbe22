package io.pawl.lab.chaos;

import io.pawl.checker.Checker;
import io.pawl.checker.Span;
import io.pawl.checker.Verdict;
import io.pawl.checker.Verdict.Ruling;
import io.pawl.lab.chaos.Chronicle.Entry;
import io.pawl.lab.chaos.Fault.Kind;
import io.pawl.lab.chaos.Notebook.Line;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What came out of a run.
 *
 * @param seconds from the first worker's start to the last one's end
 * @param jvms how many workers there were in all
 * @param rows one for each kind of fault that was played
 * @param late how often the machine had no time for somebody
 * @param judgedSeconds in how much time without faults waits were judged
 * @param verdicts of the checker
 * @param takeovers what replicas that took over did not know, which nobody promises
 * @param unexplained losses that were told while no fault and no lack of time was recent
 * @param stuck what was not free in the end
 */
record Result(
    ChaosRun.Order order,
    double seconds,
    int jvms,
    List<Row> rows,
    int late,
    double judgedSeconds,
    List<Verdict> verdicts,
    Takeovers takeovers,
    long unexplained,
    List<String> stuck) {

  private static final long TOLD_GRACE_SECONDS = 2;
  private static final int SEARCH_STEPS = 3_000_000;

  /**
   * What happened from a kind of fault on until the next fault.
   *
   * @param times how often it was played
   * @param bit how often of these it hit something
   * @param acquired leases granted
   * @param lost leases whose loss was told, but for those of clients that were closed meanwhile
   * @param met bodies that found another one inside who should not be: one of them had lost its
   *     lease
   * @param stale writes to the unfenced register over one of a later holder
   * @param refused writes that the fenced register refused
   * @param detection times until losses were told, in milliseconds: from the beginning of the
   *     fault; for a worker that was stopped, from when it went on
   * @param recovery times until somebody else had a lock, in milliseconds: for a worker, a lock
   *     that it held, from the beginning of the fault; otherwise each lock, from the end of the
   *     fault
   */
  record Row(
      Kind kind,
      int times,
      int bit,
      long acquired,
      long lost,
      long met,
      long stale,
      long refused,
      double[] detection,
      double[] recovery) {

    /** The value that so many hundredths of {@code sorted} do not pass; NaN for none. */
    static double quantile(double[] sorted, double share) {
      return sorted.length == 0
          ? Double.NaN
          : sorted[(int) Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
    }
  }

  static Result of(
      ChaosRun.Order order,
      double seconds,
      int jvms,
      List<Played> played,
      List<Span> late,
      Chronicle chronicle,
      Takeovers takeovers,
      List<String> stuck) {
    Checker checker =
        new Checker(
            TimeUnit.MILLISECONDS.toNanos(ChaosRun.WAIT_BOUND_MILLIS),
            TimeUnit.SECONDS.toNanos(TOLD_GRACE_SECONDS),
            SEARCH_STEPS);
    List<Verdict> verdicts = takeovers.judge(checker, chronicle.history());
    List<String> notJudged = order.library().notJudged();
    verdicts.removeIf(verdict -> notJudged.stream().anyMatch(verdict.promise()::startsWith));
    if (!order.library().isRival()) {
      verdicts.addAll(new Rim(order, chronicle, late).judge());
    }
    List<Row> rows = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      if (played.stream().anyMatch(fault -> fault.kind() == kind)) {
        rows.add(row(kind, played, chronicle.entries()));
      }
    }
    long judged = chronicle.history().calmNanos(checker.waitBoundNanos());
    long unexplained =
        chronicle.entries().stream()
            .map(Entry::page)
            .filter(page -> isToldByFault(page) && !chronicle.isTroubled(page.get(Line.TOLD_AT)))
            .count();
    return new Result(
        order,
        seconds,
        jvms,
        rows,
        late.size(),
        judged / 1e9,
        verdicts,
        takeovers,
        unexplained,
        stuck);
  }

  private static boolean isToldByFault(Notebook.Page page) {
    return page.get(Line.TOLD) > 0 && page.get(Line.SHAPE) != Shape.CLOSING.ordinal();
  }

  private static Row row(Kind kind, List<Played> played, List<Entry> entries) {
    int times = 0;
    int bit = 0;
    long acquired = 0;
    long lost = 0;
    long met = 0;
    long stale = 0;
    long refused = 0;
    List<Double> detection = new ArrayList<>();
    List<Double> recovery = new ArrayList<>();
    for (int i = 0; i < played.size(); i++) {
      Played fault = played.get(i);
      if (fault.kind() == kind) {
        times++;
        bit += fault.hits() > 0 ? 1 : 0;
        long until = i + 1 < played.size() ? played.get(i + 1).began() : Long.MAX_VALUE;
        recovery.addAll(recoveries(fault, until, entries));
      }
    }
    for (Entry entry : entries) {
      Notebook.Page page = entry.page();
      if (isOf(kind, page.get(Line.GRANTED), played)) {
        acquired++;
        met += entry.hasMet() ? 1 : 0;
      }
      long ended = page.get(Line.ENDED) == 0 ? page.get(Line.VALID_UNTIL) : page.get(Line.ENDED);
      Played cause = cause(page, ended, played);
      if (cause != null && cause.kind() == kind) {
        stale += page.get(Line.UNFENCED) == 2 ? 1 : 0;
        refused += page.get(Line.FENCED) == 1 ? 1 : 0;
      }
      Played loss = isToldByFault(page) ? cause(page, page.get(Line.TOLD_AT), played) : null;
      if (loss != null && loss.kind() == kind) {
        lost++;
        long from = page.jvm() == loss.victim() ? loss.ended() : loss.began();
        detection.add(Math.max(0, page.get(Line.TOLD_AT) - from) / 1e6);
      }
    }
    return new Row(
        kind, times, bit, acquired, lost, met, stale, refused, sorted(detection), sorted(recovery));
  }

  private static boolean isOf(Kind kind, long moment, List<Played> played) {
    Played last = last(moment, played);
    return last != null && last.kind() == kind;
  }

  private static @Nullable Played last(long moment, List<Played> played) {
    Played last = null;
    for (Played fault : played) {
      last = fault.began() <= moment ? fault : last;
    }
    return last;
  }

  /** The last fault before {@code moment}, or the stop of the lease's own process, had it been. */
  private static @Nullable Played cause(Notebook.Page page, long moment, List<Played> played) {
    Played cause = last(moment, played);
    for (Played fault : played) {
      boolean isOwn = fault.victim() == page.jvm() && fault.kind() == Kind.WORKER_STOPPED;
      if (isOwn && page.get(Line.GRANTED) < fault.ended() && moment >= fault.began()) {
        cause = fault;
      }
    }
    return cause;
  }

  private static List<Double> recoveries(Played fault, long until, List<Entry> entries) {
    List<Double> times = new ArrayList<>();
    Set<Subject> wanted = new HashSet<>(Arrays.asList(Subject.values()));
    wanted.remove(Subject.ELECTION); // its candidates pause after a failure
    long from = fault.ended();
    if (!fault.kind().endsForAll()) {
      from = fault.began();
      wanted.clear();
      for (Entry entry : entries) {
        long granted = entry.page().get(Line.GRANTED);
        long ended = entry.page().get(Line.ENDED);
        boolean isIn = granted < fault.began() && (ended == 0 || ended > fault.began());
        if (entry.page().jvm() == fault.victim() && isIn && entry.tenure().share().isExclusive()) {
          wanted.add(entry.page().subject());
        }
      }
    }
    for (Subject subject : wanted) {
      long first = Long.MAX_VALUE;
      for (Entry entry : entries) {
        long granted = entry.page().get(Line.GRANTED);
        boolean isNext = entry.page().subject() == subject && granted > from && granted < until;
        if (isNext && entry.page().jvm() != fault.victim()) {
          first = Math.min(first, granted);
        }
      }
      if (first != Long.MAX_VALUE) {
        times.add((first - from) / 1e6);
      }
    }
    return times;
  }

  private static double[] sorted(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(sorted);
    return sorted;
  }

  long acquired() {
    return rows.stream().mapToLong(Row::acquired).sum();
  }

  /** Whether the unfenced register saw what a pause does, without which the run says little. */
  boolean hasSeenStaleWrites() {
    return rows.stream().mapToLong(Row::stale).sum() > 0;
  }

  /**
   * Whether each kind of fault hit something at least once, and a pause did what it does. A worker
   * that was stopped on the way to a better moment may have written late as well.
   */
  boolean hasBitten() {
    return hasSeenStaleWrites() && rows.stream().allMatch(row -> row.bit() > 0 || row.stale() > 0);
  }

  boolean isBroken() {
    return !stuck.isEmpty()
        || verdicts.stream().anyMatch(verdict -> verdict.ruling() == Ruling.BROKEN);
  }
}
