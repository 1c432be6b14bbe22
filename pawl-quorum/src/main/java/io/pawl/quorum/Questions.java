package io.pawl.quorum;

import io.pawl.concurrent.Time;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Ends questions whose time is over, with one look at all of them now and then while there are any.
 */
final class Questions {

  static final long PERIOD_NANOS = 10_000_000;

  private final Time time;
  private final ConcurrentLinkedQueue<Question> open = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean sweeping = new AtomicBoolean();

  Questions(Time time) {
    this.time = time;
  }

  void add(Question question) {
    open.add(question);
    if (!sweeping.get() && sweeping.compareAndSet(false, true)) {
      sweepLater();
    }
  }

  /** Ends all that are open, with what is known. No node is asked by now. */
  void close() {
    open.forEach(question -> question.claim().expire(question));
    open.clear();
  }

  private void sweepLater() {
    time.after(PERIOD_NANOS, this::sweep);
  }

  private void sweep() {
    try {
      look(time.nanos());
    } finally {
      sweeping.set(false);
      if (!open.isEmpty() && sweeping.compareAndSet(false, true)) {
        sweepLater();
      }
    }
  }

  private void look(long now) {
    open.removeIf(question -> question.answer().isDone());
    for (Question question : open) {
      if (now - question.until() >= 0) {
        question.claim().expire(question);
      } else {
        question.claim().look(now);
      }
    }
  }
}
