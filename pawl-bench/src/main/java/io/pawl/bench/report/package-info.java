/** What was measured, as figures, targets, a table and JSON. */
@NullMarked
package io.pawl.bench.report;

import org.jspecify.annotations.NullMarked;
