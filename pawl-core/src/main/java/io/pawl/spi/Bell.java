package io.pawl.spi;

/**
 * How a store notifies a waiter that the standing of its claim has changed.
 *
 * <p>Nothing depends on a bell. A store may ring late, twice, or (when a message is lost) never;
 * the engine asks again on its own. A store must never ring {@link Standing.Held} for a claim that
 * it has not granted. {@code ring} returns quickly, never blocks on the store, throws nothing, and
 * may be called from any thread, even before the {@code attempt} that passed the bell was answered.
 */
@FunctionalInterface
public interface Bell {

  /** Says how the claim that was passed with this bell stands now. */
  void ring(Standing standing);
}
