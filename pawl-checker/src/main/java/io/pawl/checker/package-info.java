/**
 * Judges what a run of locks and counters saw: a {@link io.pawl.checker.History} of leases, waits,
 * writes and takes goes in, a {@link io.pawl.checker.Verdict} of each promise comes out. Nothing
 * here knows a lock service, a clock or a thread.
 *
 * <p>Times are nanoseconds of one monotonic clock that all processes of the run share, such as
 * {@link System#nanoTime} on Linux. A span is always the <em>certain</em> part of something: a
 * lease is valid for certain from when somebody knew it to be valid to when somebody last began to
 * ask and was told yes. So whatever is called broken was broken, however the threads were
 * scheduled. What is not known stays unknown, and is never taken for a failure or for a success.
 */
@NullMarked
package io.pawl.checker;

import org.jspecify.annotations.NullMarked;
