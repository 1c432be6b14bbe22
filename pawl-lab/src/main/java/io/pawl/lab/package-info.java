/** Old algorithms and rivals that fail on demand, and Pawl under the same schedule. */
@NullMarked
package io.pawl.lab;

import org.jspecify.annotations.NullMarked;
