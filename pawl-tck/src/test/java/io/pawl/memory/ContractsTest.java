package io.pawl.memory;

import io.pawl.tck.StoreCompleteness;

class ContractsTest extends StoreCompleteness {

  @Override
  protected boolean outlivesAProcess() {
    return false;
  }
}
