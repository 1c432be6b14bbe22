package io.pawl.checker;

import org.jspecify.annotations.Nullable;

/**
 * A thing that does one call after another.
 *
 * @param <S> its state, immutable, with equals
 * @param <C> a call together with its answer
 */
interface Model<S, C> {

  S initial();

  /** Returns the state after {@code call}; null where it would not have been answered like this. */
  @Nullable S after(S state, C call);
}
