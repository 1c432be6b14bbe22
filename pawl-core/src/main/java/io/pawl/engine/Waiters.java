package io.pawl.engine;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The waiters of one {@link LocalQueue}, the next first. Guarded by the queue's mutex. */
final class Waiters {

  private final LinkedHashSet<Waiter<?>> waiters = new LinkedHashSet<>();
  private volatile boolean wanted;

  /** Whether somebody waits; asked from outside, without a lock. */
  boolean isWanted() {
    return wanted;
  }

  boolean isEmpty() {
    return waiters.isEmpty();
  }

  int size() {
    return waiters.size();
  }

  boolean contains(Waiter<?> waiter) {
    return waiters.contains(waiter);
  }

  void add(Waiter<?> waiter, LocalQueue queue) {
    waiters.add(waiter);
    wanted = true;
    waiter.isIn(queue);
  }

  boolean remove(Waiter<?> waiter) {
    boolean removed = waiters.remove(waiter);
    wanted = !waiters.isEmpty();
    return removed;
  }

  Waiter<?> first() {
    return waiters.iterator().next();
  }

  Waiter<?> removeFirst() {
    Waiter<?> head = first();
    remove(head);
    return head;
  }

  /** The first that waits, or that does not. */
  @Nullable Waiter<?> firstThat(boolean waits) {
    for (Waiter<?> waiter : waiters) {
      if (waiter.waits() == waits) {
        return waiter;
      }
    }
    return null;
  }

  /** The first {@code count} are not mistaken about the lock, whatever it has become. */
  void goOn(int count) {
    waiters.stream().limit(count).forEach(Waiter::goOn);
  }

  boolean any(Predicate<Waiter<?>> such) {
    return waiters.stream().anyMatch(such);
  }

  /** Those behind the first {@code kept}. */
  List<Waiter<?>> behind(int kept) {
    return List.copyOf(waiters).subList(Math.min(kept, waiters.size()), waiters.size());
  }

  /** Those that do not wait, behind the first {@code kept} of them. */
  List<Waiter<?>> impatientBehind(int kept) {
    return waiters.stream().filter(waiter -> !waiter.waits()).skip(kept).toList();
  }

  /** Removes all but the first {@code kept}. */
  List<Waiter<?>> removeBehind(int kept) {
    List<Waiter<?>> behind = behind(kept);
    behind.forEach(this::remove);
    return behind;
  }

  /** Those whose time is over look whether it still is. */
  void overdue(Effects effects) {
    for (Waiter<?> waiter : waiters) {
      if (waiter.isOverdue()) {
        effects.hurry(waiter);
      }
    }
  }

  /** Those that have somebody in their way from now on. */
  List<Waiter<?>> beginWaiting() {
    return waiters.stream().filter(Waiter::beginWaiting).toList();
  }

  /** Calls the first {@code count}. */
  void nudge(int count, Effects effects) {
    Iterator<Waiter<?>> queue = waiters.iterator();
    for (int i = 0; i < count && queue.hasNext(); i++) {
      effects.nudge(queue.next());
    }
  }
}
