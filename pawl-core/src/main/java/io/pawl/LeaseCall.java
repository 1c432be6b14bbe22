package io.pawl;

/**
 * What runs while a lock is held, and has a result.
 *
 * @param <T> the result
 * @param <X> what it throws
 */
@FunctionalInterface
public interface LeaseCall<T, X extends Exception> {

  /**
   * Runs.
   *
   * @param lease closed by whoever calls this
   * @return not null
   */
  T call(Lease lease) throws X;
}
