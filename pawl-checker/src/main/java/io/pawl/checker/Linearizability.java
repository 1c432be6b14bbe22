package io.pawl.checker;

import io.pawl.checker.Verdict.Ruling;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether calls that ran at once could have come from a thing that does one after another: Wing and
 * Gong's search for an order that respects who was over before whom began, with what led nowhere
 * remembered. A call without a known answer may have taken effect at any time after its beginning,
 * or never.
 *
 * @param <S> the state of the model
 * @param <C> a call together with its answer
 */
final class Linearizability<S, C> {

  /**
   * A call that was made.
   *
   * @param call with its answer
   * @param span from the call to its answer
   * @param isCertain whether it has taken effect within {@code span}
   */
  record Made<C>(C call, Span span, boolean isCertain) {}

  /**
   * How far a search has come: which calls are done, as a hash of 128 bits, and the state. Of equal
   * ones the second leads nowhere new.
   */
  private record Point<S>(long hash, long otherHash, S state) {}

  /** A call that was put next, the state after it, and the ways on that were not tried yet. */
  private record Step<S>(int way, S state, Deque<Integer> ways) {}

  private final Model<S, C> model;
  private final List<Made<C>> certain = new ArrayList<>();
  private final List<Made<C>> uncertain = new ArrayList<>();
  private final BitSet certainDone = new BitSet();
  private final BitSet uncertainDone = new BitSet();
  private final Set<Point<S>> seen = new HashSet<>();
  private final int mostPoints;
  private long hash;
  private long otherHash;
  private int done;
  private int mostDone = -1;
  private int stuckAt;

  private Linearizability(Model<S, C> model, List<Made<C>> calls, int mostPoints) {
    this.model = model;
    this.mostPoints = mostPoints;
    List<Made<C>> inOrder = new ArrayList<>(calls);
    inOrder.sort(Comparator.comparingLong(made -> made.span().from()));
    for (Made<C> made : inOrder) {
      (made.isCertain() ? certain : uncertain).add(made);
    }
  }

  /**
   * What a search found.
   *
   * @param ruling {@link Ruling#UNKNOWN} where it was given up
   * @param stuckAt the first call that no order explains; null where there is none
   */
  record Result<C>(Ruling ruling, @Nullable Made<C> stuckAt) {}

  /**
   * @param mostPoints after how many the search is given up
   */
  static <S, C> Result<C> of(Model<S, C> model, List<Made<C>> calls, int mostPoints) {
    return new Linearizability<>(model, calls, mostPoints).search();
  }

  private Result<C> search() {
    if (certain.isEmpty()) {
      return new Result<>(Ruling.KEPT, null);
    }
    Deque<Step<S>> path = new ArrayDeque<>();
    S initial = model.initial();
    seen.add(new Point<>(hash, otherHash, initial));
    path.push(new Step<>(0, initial, ways()));
    while (true) {
      Step<S> step = path.element();
      Integer way = step.ways().poll();
      if (way == null) {
        path.pop();
        if (path.isEmpty()) {
          return new Result<>(Ruling.BROKEN, certain.get(stuckAt));
        }
        turn(step.way());
        continue;
      }
      S next = model.after(step.state(), made(way).call());
      if (next == null) {
        continue;
      }
      turn(way);
      if (done == certain.size()) {
        return new Result<>(Ruling.KEPT, null);
      }
      if (!seen.add(new Point<>(hash, otherHash, next))) {
        turn(way);
        continue;
      }
      if (seen.size() > mostPoints) {
        return new Result<>(Ruling.UNKNOWN, certain.get(stuckAt));
      }
      path.push(new Step<>(way, next, ways()));
    }
  }

  /** Ways are numbers of certain calls, and those of uncertain ones below zero. */
  private Made<C> made(int way) {
    return way < 0 ? uncertain.get(-1 - way) : certain.get(way);
  }

  /** Puts a call among those that are done, or takes it back. */
  private void turn(int way) {
    if (way < 0) {
      uncertainDone.flip(-1 - way);
    } else {
      certainDone.flip(way);
      done += certainDone.get(way) ? 1 : -1;
    }
    hash ^= scrambled(way, 0x9E3779B97F4A7C15L);
    otherHash ^= scrambled(way, 0xC2B2AE3D27D4EB4FL);
  }

  /** The last steps of MurmurHash3. */
  private static long scrambled(int way, long salt) {
    long bits = way * 0x165667B19E3779F9L + salt;
    bits = (bits ^ bits >>> 33) * 0xFF51AFD7ED558CCDL;
    bits = (bits ^ bits >>> 33) * 0xC4CEB9FE1A85EC53L;
    return bits ^ bits >>> 33;
  }

  /** Whatever may come next: calls that began before every call that is not done was over. */
  private Deque<Integer> ways() {
    long firstEnd = Span.OPEN;
    int first = certainDone.nextClearBit(0);
    List<Integer> next = new ArrayList<>();
    for (int i = first; i < certain.size(); i = certainDone.nextClearBit(i + 1)) {
      Span span = certain.get(i).span();
      if (span.from() > firstEnd) {
        break;
      }
      if (span.until() < firstEnd) {
        firstEnd = span.until();
        first = i;
      }
      next.add(i);
    }
    if (done > mostDone) {
      mostDone = done;
      stuckAt = first;
    }
    long latest = firstEnd;
    next.removeIf(i -> certain.get(i).span().from() > latest);
    next.sort(Comparator.comparingLong(i -> certain.get(i).span().until()));
    int some = uncertainDone.nextClearBit(0);
    for (; some < uncertain.size(); some = uncertainDone.nextClearBit(some + 1)) {
      if (uncertain.get(some).span().from() > latest) {
        break;
      }
      next.add(-1 - some);
    }
    return new ArrayDeque<>(next);
  }
}
