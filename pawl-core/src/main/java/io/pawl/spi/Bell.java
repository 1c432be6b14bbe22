package io.pawl.spi;

/**
 * How a store calls a waiter: the standing of its claim has changed without being asked.
 *
 * <p>A bell is a courtesy. A store may ring late, twice, or (when a message is lost) never; the
 * engine asks again on its own. What a store must not do is ring {@link Standing.Held} for a claim
 * that it has not granted. {@code ring} returns quickly, never blocks on the store, throws nothing,
 * and may be called from any thread, even before the {@code attempt} that handed it over was
 * answered.
 */
@FunctionalInterface
public interface Bell {

  /** The claim that this bell was handed over with now stands like this. */
  void ring(Standing standing);
}
