package io.pawl.lab.stage;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The notes of one run: its steps in order, and the two witnesses that trust no library. One is
 * told of holds, and asks every earlier holder whether it still thinks that it holds; the other is
 * an unfenced register, and knows a write by whoever is not the latest holder for stale.
 *
 * <p>Called by one thread at a time, the one that plays the schedule.
 */
public final class Trace {

  /** What a step is in the picture. */
  public enum Mark {
    STEP,
    FAULT,
    REFUSED,
    WRITE,
    STALE,
    FENCED
  }

  /**
   * @param millis since the first step
   */
  public record Step(String actor, String text, Mark mark, long millis) {}

  /**
   * From the step {@code from} to the step {@code to}, both inclusive, numbered from 0.
   *
   * @param token 0 where there is none
   * @param overlaps whether an earlier holder still thought that it held
   * @param ended how it ended, empty if it did not
   */
  public record Span(String actor, int from, int to, long token, boolean overlaps, String ended) {}

  private static final class Hold {
    final String actor;
    final int from;
    final long token;
    final BooleanSupplier believes;
    boolean overlaps;

    Hold(String actor, int from, long token, BooleanSupplier believes) {
      this.actor = actor;
      this.from = from;
      this.token = token;
      this.believes = believes;
    }

    Span until(int to, String ended) {
      return new Span(actor, from, Math.max(from, to), token, overlaps, ended);
    }
  }

  private long startNanos;
  private final List<Step> steps = new ArrayList<>();
  private final List<Hold> open = new ArrayList<>();
  private final List<Span> spans = new ArrayList<>();
  private @Nullable String latest;
  private int overlaps;
  private int stale;

  /** Notes a step of an actor, such as {@code A} or {@code server}. */
  public void step(String actor, String text) {
    note(actor, text, Mark.STEP);
  }

  /** Notes what the schedule did to an actor. */
  public void fault(String actor, String text) {
    note(actor, text, Mark.FAULT);
  }

  /** Notes that an actor did not get the lock. */
  public void refused(String actor, String text) {
    note(actor, text, Mark.REFUSED);
  }

  /** Notes that the actor thinks from now on that it holds, until {@link #ends}. */
  public void holds(String actor, String text) {
    holds(actor, text, 0, () -> true);
  }

  /**
   * Notes that the actor holds.
   *
   * @param believes whether it still thinks so; asked whenever another holds
   */
  public void holds(String actor, String text, long token, BooleanSupplier believes) {
    step(actor, text);
    int now = steps.size() - 1;
    Hold hold = new Hold(actor, now, token, believes);
    for (Hold earlier : List.copyOf(open)) {
      if (earlier.believes.getAsBoolean()) {
        earlier.overlaps = true;
        hold.overlaps = true;
        overlaps++;
      } else {
        open.remove(earlier);
        spans.add(earlier.until(now - 1, "knew that it had lost it"));
      }
    }
    open.add(hold);
    latest = actor;
  }

  /** Notes that the actor gave back, or died. */
  public void ends(String actor, String text) {
    step(actor, text);
    close(actor, text);
  }

  /** Notes that the actor died, with its hold. */
  public void dies(String actor, String text) {
    fault(actor, text);
    close(actor, text);
  }

  private void close(String actor, String text) {
    for (Hold hold : List.copyOf(open)) {
      if (hold.actor.equals(actor)) {
        open.remove(hold);
        spans.add(hold.until(steps.size() - 1, text));
      }
    }
  }

  /** Notes a write to the unfenced register; it is stale after another has held. */
  public void writes(String actor, String text) {
    boolean late = latest != null && !latest.equals(actor);
    stale += late ? 1 : 0;
    note(actor, late ? text + ": stale, and taken" : text, late ? Mark.STALE : Mark.WRITE);
  }

  /** Notes that a fence refused a write. */
  public void fenced(String actor, String text) {
    note(actor, text, Mark.FENCED);
  }

  private void note(String actor, String text, Mark mark) {
    long nanos = System.nanoTime();
    if (steps.isEmpty()) {
      startNanos = nanos;
    }
    steps.add(new Step(actor, text, mark, (nanos - startNanos) / 1_000_000));
  }

  /** Returns how often somebody held while an earlier holder thought that it did. */
  public int overlaps() {
    return overlaps;
  }

  /** Returns how many writes to the unfenced register were stale. */
  public int staleWrites() {
    return stale;
  }

  /** Returns the steps so far, in order. */
  public List<Step> steps() {
    return List.copyOf(steps);
  }

  /** Returns the holds; those that have not ended last until the latest step. */
  public List<Span> spans() {
    List<Span> all = new ArrayList<>(spans);
    open.forEach(hold -> all.add(hold.until(steps.size() - 1, "")));
    return all;
  }

  /** Returns who takes part, in the order of their first steps. */
  public List<String> actors() {
    return steps.stream().map(Step::actor).distinct().toList();
  }
}
