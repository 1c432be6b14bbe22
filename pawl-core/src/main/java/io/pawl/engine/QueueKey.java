package io.pawl.engine;

import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import org.jspecify.annotations.Nullable;

/**
 * Requests that share a queue: those that ask for the same lock in the same way.
 *
 * @param mode what they ask for
 * @param number 0 for all who pass the lock among themselves, one of its own for a strict request
 */
public record QueueKey(String name, LockOptions options, Mode mode, long number) {

  public QueueKey(String name, LockOptions options, Mode mode) {
    this(name, options, mode, 0);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof QueueKey key && number == key.number && isLike(key);
  }

  /** Whether both ask for the same lock in the same way. */
  boolean isLike(QueueKey other) {
    return name.equals(other.name)
        && (mode == other.mode || mode.equals(other.mode))
        && (options == other.options || options.equals(other.options));
  }

  /** Over the name alone: a lock seldom has queues of several kinds. */
  @Override
  public int hashCode() {
    return 31 * name.hashCode() + Long.hashCode(number);
  }
}
