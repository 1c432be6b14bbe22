/** The recipes that are measured: Pawl's, and what others offer or teams write themselves. */
@NullMarked
package io.pawl.bench.rival;

import org.jspecify.annotations.NullMarked;
