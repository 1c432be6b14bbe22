package io.pawl.etcd;

import io.pawl.tck.StoreCompleteness;

class ContractsTest extends StoreCompleteness {}
