package io.pawl;

/**
 * Code that runs while a lock is held.
 *
 * @param <X> the exception that it throws
 */
@FunctionalInterface
public interface LeaseBody<X extends Exception> {

  /**
   * Runs the body.
   *
   * @param lease the lease, which the caller of this method closes
   */
  void run(Lease lease) throws X;
}
