/** Defects of other libraries, each shown with the library itself. */
@NullMarked
package io.pawl.lab.rival;

import org.jspecify.annotations.NullMarked;
