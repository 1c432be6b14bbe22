/** Small programs that show one thing each. Each throws where what it shows is not so. */
@NullMarked
package io.pawl.examples;

import org.jspecify.annotations.NullMarked;
