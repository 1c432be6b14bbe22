/** Threads, time and futures as all modules use them. Not for users. */
@NullMarked
package io.pawl.concurrent;

import org.jspecify.annotations.NullMarked;
