package io.pawl.lab.chaos;

import io.pawl.checker.Encounter;
import io.pawl.checker.History;
import io.pawl.checker.Span;
import io.pawl.checker.Stock;
import io.pawl.checker.Take;
import io.pawl.checker.Tenure;
import io.pawl.checker.Tenure.Loss;
import io.pawl.checker.Wait;
import io.pawl.checker.Write;
import io.pawl.lab.chaos.Notebook.End;
import io.pawl.lab.chaos.Notebook.Line;
import io.pawl.lab.chaos.Notebook.Page;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What all workers wrote down, as the history that a checker judges. */
final class Chronicle {

  private static final Span NEVER = new Span(1, 0);

  private final Map<Integer, Long> killedAt;
  private final List<Played> played;
  private final long tailNanos;
  private final List<Page> pages = new ArrayList<>();
  private final List<Entry> entries = new ArrayList<>();
  private final List<Span> troubles;
  private final History history;

  /**
   * A page, and what it means.
   *
   * @param hasMet whether the referee saw somebody else inside who could not be there as well
   */
  record Entry(Page page, Tenure tenure, boolean hasMet) {}

  /**
   * @param jvms the workers' numbers
   * @param killedAt when those were killed that were
   * @param late when the machine had no time for somebody
   * @param tailNanos how long it takes at most to get over a fault
   */
  Chronicle(
      Path folder,
      List<Integer> jvms,
      Map<Integer, Long> killedAt,
      List<Played> played,
      List<Span> late,
      long tailNanos,
      List<Stock> stocks) {
    this.killedAt = killedAt;
    this.played = played;
    this.tailNanos = tailNanos;
    List<Take> takes = new ArrayList<>();
    for (int jvm : jvms) {
      Notebook notebook = Notebook.of(folder, jvm);
      for (int number = 0; number < notebook.pages(); number++) {
        if (notebook.page(number).get(Line.ASKED) != 0) {
          pages.add(notebook.page(number));
        }
      }
      TakeNotes notes = TakeNotes.of(folder, jvm);
      notes.takes().mapToObj(notes::take).forEach(takes::add);
    }
    this.troubles = faults(late);
    this.history = read().withTakes(takes, stocks).withFaults(troubles);
  }

  History history() {
    return history;
  }

  List<Entry> entries() {
    return entries;
  }

  /** All pages, of waits that ended without a lease too. */
  List<Page> pages() {
    return pages;
  }

  /** Whether something was wrong then, or was so recently that somebody may not be over it. */
  boolean isTroubled(long moment) {
    return troubles.stream().anyMatch(span -> span.overlaps(new Span(moment, moment + 1)));
  }

  /** Whether that worker stood still at some time of {@code span}. */
  boolean wasStopped(int jvm, Span span) {
    return played.stream()
        .filter(fault -> fault.victim() == jvm)
        .anyMatch(fault -> span.overlaps(new Span(fault.began(), fault.ended())));
  }

  private List<Span> faults(List<Span> late) {
    List<Span> all = new ArrayList<>(late);
    for (Played fault : played) {
      if (fault.kind() != Fault.Kind.WORKER_CLOCK_MOVED) { // of which nobody may take notice
        all.add(new Span(fault.began(), fault.ended()));
      }
    }
    return all.stream().map(span -> new Span(span.from(), span.until() + tailNanos)).toList();
  }

  private History read() {
    Map<Long, Tenure> tenures = new HashMap<>();
    List<Wait> waits = new ArrayList<>();
    List<Write> writes = new ArrayList<>();
    for (Page page : pages) {
      if (page.get(Line.SHAPE) != Shape.ELECTION.ordinal()) {
        waits.add(wait(page)); // a candidate pauses after a failure
      }
      if (page.get(Line.GRANTED) != 0) {
        tenures.put(page.signature(), tenure(page));
      }
      if (page.get(Line.FENCED) != 0) {
        writes.add(write(page));
      }
    }
    List<Encounter> encounters = new ArrayList<>();
    List<Tenure> inOrder = new ArrayList<>();
    for (Page page : pages) {
      Tenure visitor = tenures.get(page.signature());
      if (visitor == null) {
        continue;
      }
      boolean hasMet = false;
      for (int i = 0; page.met(i) != 0; i++) {
        Tenure occupant = tenures.get(page.met(i));
        if (occupant != null) {
          encounters.add(new Encounter(visitor, occupant));
          long units = (long) visitor.share().units() + occupant.share().units();
          hasMet |= units > visitor.share().capacity();
        }
      }
      inOrder.add(visitor);
      entries.add(new Entry(page, visitor, hasMet));
    }
    return History.EMPTY
        .withTenures(inOrder)
        .withWaits(waits)
        .withWrites(writes)
        .withEncounters(encounters);
  }

  private long endOf(Page page) {
    long ended = page.get(Line.ENDED);
    return ended != 0 ? ended : killedAt.getOrDefault(page.jvm(), Span.OPEN);
  }

  static String holder(Page page) {
    return "worker " + page.jvm() + ", " + Shape.values()[(int) page.get(Line.SHAPE)];
  }

  private Wait wait(Page page) {
    long granted = page.get(Line.GRANTED);
    long until = granted != 0 ? granted : endOf(page);
    return new Wait(page.subject().lock(), holder(page), new Span(page.get(Line.ASKED), until));
  }

  private Tenure tenure(Page page) {
    long began = page.get(Line.CLOSE_BEGAN);
    long granted = page.get(Line.GRANTED);
    Span seenValid =
        page.get(Line.VALID_FROM) == 0
            ? NEVER
            : new Span(page.get(Line.VALID_FROM), page.get(Line.VALID_UNTIL));
    boolean isReleased = page.end() == End.RELEASED;
    boolean isCut = killedAt.containsKey(page.jvm()) && page.get(Line.TOLD) == 0;
    Tenure.End end =
        switch (page.end()) {
          case RELEASED -> Tenure.End.RELEASED;
          case LOST -> isCut ? Tenure.End.UNKNOWN : Tenure.End.LOST;
          case UNCONFIRMED, OPEN, NOT_GRANTED -> Tenure.End.UNKNOWN;
        };
    long ended = endOf(page);
    boolean isUnconfirmed = page.end() == End.UNCONFIRMED;
    Span closing = new Span(began == 0 ? ended : began, isUnconfirmed ? ended + tailNanos : ended);
    return new Tenure(
        page.subject().lock(),
        holder(page),
        page.share(),
        page.get(Line.TOKEN),
        new Span(page.get(Line.ASKED), granted),
        isReleased ? new Span(granted, began) : seenValid,
        end,
        closing,
        loss(page));
  }

  /** Between an answer and a callback this process may have been stopped, of which it knows not. */
  private Loss loss(Page page) {
    long told = page.get(Line.TOLD);
    if (told == 0) {
      return Loss.NONE;
    }
    long toldAt = page.get(Line.TOLD_AT);
    long foundAt = page.get(Line.FOUND_AT);
    Span between = new Span(foundAt, toldAt);
    boolean wasStopped = foundAt != 0 && wasStopped(page.jvm(), between);
    return new Loss((int) told, toldAt, foundAt == 0 || wasStopped ? Span.OPEN : foundAt);
  }

  private static Write write(Page page) {
    boolean wasValid = page.get(Line.FENCED_VALID) == 1 || page.end() == End.RELEASED;
    return new Write(
        page.subject().lock(),
        page.get(Line.FENCED_NUMBER),
        page.get(Line.TOKEN),
        page.get(Line.FENCED) == 2,
        wasValid);
  }
}
