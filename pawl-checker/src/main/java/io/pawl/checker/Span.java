package io.pawl.checker;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A stretch of time, both ends included.
 *
 * @param from nanoseconds
 * @param until nanoseconds; before {@code from} where there is no such time, {@link #OPEN} where
 *     the end is not known
 */
public record Span(long from, long until) {

  /** An end that nobody has seen. */
  public static final long OPEN = Long.MAX_VALUE;

  public boolean isEmpty() {
    return until < from;
  }

  public boolean overlaps(Span other) {
    return !isEmpty() && !other.isEmpty() && from <= other.until && other.from <= until;
  }

  /** Returns the same time in order, without overlaps. */
  static List<Span> merged(List<Span> spans) {
    List<Span> inOrder = new ArrayList<>(spans);
    inOrder.sort(Comparator.comparingLong(Span::from));
    List<Span> merged = new ArrayList<>();
    for (Span span : inOrder) {
      Span last = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      if (last != null && span.from() <= last.until()) {
        merged.set(merged.size() - 1, new Span(last.from(), Math.max(last.until(), span.until())));
      } else {
        merged.add(span);
      }
    }
    return merged;
  }
}
