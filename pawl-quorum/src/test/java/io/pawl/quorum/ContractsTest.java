package io.pawl.quorum;

import io.pawl.tck.StoreCompleteness;

class ContractsTest extends StoreCompleteness {

  /** Which a quorum refuses. */
  @Override
  protected boolean servesSemaphores() {
    return false;
  }
}
