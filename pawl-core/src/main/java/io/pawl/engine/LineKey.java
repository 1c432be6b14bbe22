package io.pawl.engine;

import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import org.jspecify.annotations.Nullable;

/**
 * Requests that share a line: those that ask for the same lock in the same way.
 *
 * @param mode what they ask for
 * @param number 0 for all who pass the lock among themselves, one of its own for a strict request
 */
public record LineKey(String name, LockOptions options, Mode mode, long number) {

  public LineKey(String name, LockOptions options, Mode mode) {
    this(name, options, mode, 0);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LineKey key && number == key.number && isLike(key);
  }

  /** Whether both ask for the same lock in the same way. */
  boolean isLike(LineKey other) {
    return name.equals(other.name)
        && (mode == other.mode || mode.equals(other.mode))
        && (options == other.options || options.equals(other.options));
  }

  /** Over the name alone: a lock seldom has lines of several kinds. */
  @Override
  public int hashCode() {
    return 31 * name.hashCode() + Long.hashCode(number);
  }
}
