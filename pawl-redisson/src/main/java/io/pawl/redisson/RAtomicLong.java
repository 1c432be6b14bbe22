package io.pawl.redisson;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.OutcomeUnknownException;

/**
 * A number with the methods of Redisson's {@code RAtomicLong}, over Pawl's {@link Counter} of its
 * name. Each change happens once, though an answer was lost; where the store stays away, {@link
 * OutcomeUnknownException} has the id by which {@link Pawl#counter} tells later what became of it.
 *
 * <p>Values are within ±(2<sup>53</sup> − 1), and do not fall below the counter's floor, which is 0
 * until it is changed: {@code pawl.counter(name).update(Update.bounds(-limit, limit))}. A change
 * that passes a bound throws {@link ArithmeticException}, and changes nothing. Each method is one
 * round trip. Thread-safe.
 */
public interface RAtomicLong {

  /** Returns the name. */
  String getName();

  /** Returns the value; 0 before the first change. */
  long get();

  /** Sets the value. */
  void set(long newValue);

  /** Sets the value if it is {@code expect}. Returns whether it was. */
  boolean compareAndSet(long expect, long update);

  /** Adds, and returns the new value. */
  long addAndGet(long delta);

  /** Adds, and returns the value before. */
  long getAndAdd(long delta);

  /** Adds 1, and returns the new value. */
  long incrementAndGet();

  /** Adds 1, and returns the value before. */
  long getAndIncrement();

  /** Takes 1, and returns the new value. */
  long decrementAndGet();

  /** Takes 1, and returns the value before. */
  long getAndDecrement();

  /**
   * Sets the value, and returns that before. Two round trips, and one more for each change of
   * another client in between.
   *
   * @throws IllegalStateException where others changed it 1,000 times in between
   */
  long getAndSet(long newValue);
}
