/** Takes from counters under random faults, each checked in the ledger. */
@NullMarked
package io.pawl.bench.soak;

import org.jspecify.annotations.NullMarked;
