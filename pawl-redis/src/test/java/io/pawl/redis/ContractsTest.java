package io.pawl.redis;

import io.pawl.tck.StoreCompleteness;

class ContractsTest extends StoreCompleteness {}
