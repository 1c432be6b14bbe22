/** Locks in memory for tests, and {@link io.pawl.spring.test.TestLocks}, which loses them. */
@NullMarked
package io.pawl.spring.test;

import org.jspecify.annotations.NullMarked;
