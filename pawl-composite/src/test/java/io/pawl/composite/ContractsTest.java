package io.pawl.composite;

import io.pawl.tck.StoreCompleteness;

class ContractsTest extends StoreCompleteness {}
