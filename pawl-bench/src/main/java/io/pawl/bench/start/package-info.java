/** What starting costs: of a command, and of an application. */
@NullMarked
package io.pawl.bench.start;

import org.jspecify.annotations.NullMarked;
