package io.pawl.zookeeper;

import io.pawl.tck.StoreCompleteness;

class ContractsTest extends StoreCompleteness {}
