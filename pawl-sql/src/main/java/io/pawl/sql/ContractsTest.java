package io.pawl.sql;

import io.pawl.tck.StoreCompleteness;

class ContractsTest extends StoreCompleteness {}
