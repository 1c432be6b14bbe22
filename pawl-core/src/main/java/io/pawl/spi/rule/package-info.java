/** The rules that every store follows, as code that stores may run. */
@NullMarked
package io.pawl.spi.rule;

import org.jspecify.annotations.NullMarked;
