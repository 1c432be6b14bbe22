package io.pawl.sql.lock;

import io.pawl.spi.ClaimId;

/**
 * How a client learns of grants that others made to its waiting claims. Correctness never depends
 * on it: the engine asks by renewal whatever a bell left untold.
 */
interface Doorbell extends AutoCloseable {

  /** {@code id} was told that it waits: somebody has to watch from now on. */
  void watch(ClaimId id);

  /**
   * How long to pause when a connection has failed for the {@code n}-th time in a row: twice as
   * long each time, up to 1 s, so that a database that is away is not stormed when it comes back.
   */
  static long pauseNanos(long firstNanos, int n) {
    return Math.min(1_000_000_000L, firstNanos << Math.min(n - 1, 10));
  }

  @Override
  void close();
}
