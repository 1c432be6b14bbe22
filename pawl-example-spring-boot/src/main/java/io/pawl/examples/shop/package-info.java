/**
 * A shop on Spring Boot: ten prizes for many buyers, withdrawals that a paused process cannot
 * repeat, and a report that one of many instances writes. Start it twice on the same files.
 */
@NullMarked
package io.pawl.examples.shop;

import org.jspecify.annotations.NullMarked;
