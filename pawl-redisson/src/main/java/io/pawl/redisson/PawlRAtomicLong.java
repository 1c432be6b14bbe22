package io.pawl.redisson;

import io.pawl.Counter;
import io.pawl.counter.Change;
import io.pawl.counter.Update;

/** A counter as a number. */
final class PawlRAtomicLong implements RAtomicLong {

  private static final int MOST_ATTEMPTS = 1_000;

  private final Counter counter;

  PawlRAtomicLong(Counter counter) {
    this.counter = counter;
  }

  private long applied(Change change, String what) {
    if (!change.isApplied()) {
      throw new ArithmeticException(
          "counter '"
              + getName()
              + "' is "
              + change.value()
              + ": "
              + what
              + " passes a bound; where it may be negative, set its bounds by"
              + " counter.update(Update.bounds(floor, ceiling))");
    }
    return change.value();
  }

  @Override
  public String getName() {
    return counter.name();
  }

  @Override
  public long get() {
    return counter.get();
  }

  @Override
  public void set(long newValue) {
    applied(counter.update(Update.set(newValue)), "setting it to " + newValue);
  }

  @Override
  public boolean compareAndSet(long expect, long update) {
    Change change = counter.update(Update.compareAndSet(expect, update));
    if (!change.isApplied() && change.value() == expect) {
      applied(change, "setting it to " + update);
    }
    return change.isApplied();
  }

  @Override
  public long addAndGet(long delta) {
    return delta == 0 ? get() : applied(counter.add(delta), "adding " + delta);
  }

  @Override
  public long getAndAdd(long delta) {
    return addAndGet(delta) - delta;
  }

  @Override
  public long incrementAndGet() {
    return addAndGet(1);
  }

  @Override
  public long getAndIncrement() {
    return getAndAdd(1);
  }

  @Override
  public long decrementAndGet() {
    return addAndGet(-1);
  }

  @Override
  public long getAndDecrement() {
    return getAndAdd(-1);
  }

  @Override
  public long getAndSet(long newValue) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      long before = get();
      if (compareAndSet(before, newValue)) {
        return before;
      }
    }
    throw new IllegalStateException(
        "counter '" + getName() + "' was changed by others " + MOST_ATTEMPTS + " times meanwhile");
  }

  @Override
  public String toString() {
    return "RAtomicLong[" + counter + "]";
  }
}
