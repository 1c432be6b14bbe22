package io.pawl;

/**
 * What runs while a lock is held.
 *
 * @param <X> what it throws
 */
@FunctionalInterface
public interface LeaseBody<X extends Exception> {

  /**
   * Runs.
   *
   * @param lease closed by whoever calls this
   */
  void run(Lease lease) throws X;
}
