package io.pawl.sql.lock;

import io.pawl.spi.ClaimId;

/**
 * How a client learns of grants that others made to its waiting claims. Correctness never depends
 * on it: the engine asks by renewal whatever a bell left untold.
 */
interface Doorbell extends AutoCloseable {

  /** {@code id} was told that it waits: somebody has to watch from now on. */
  void watch(ClaimId id);

  @Override
  void close();
}
