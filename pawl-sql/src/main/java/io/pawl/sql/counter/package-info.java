/** Counters as rows: their requests, and the ledger of what became of each. */
@NullMarked
package io.pawl.sql.counter;

import org.jspecify.annotations.NullMarked;
