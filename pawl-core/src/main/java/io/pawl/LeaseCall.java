package io.pawl;

/**
 * Code that runs while a lock is held and returns a result.
 *
 * @param <T> the result
 * @param <X> the exception that it throws
 */
@FunctionalInterface
public interface LeaseCall<T, X extends Exception> {

  /**
   * Runs the body.
   *
   * @param lease the lease, which the caller of this method closes
   * @return the result, not null
   */
  T call(Lease lease) throws X;
}
