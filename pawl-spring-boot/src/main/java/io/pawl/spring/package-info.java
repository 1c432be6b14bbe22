/**
 * Locks by annotations: {@link io.pawl.spring.Locked}, {@link io.pawl.spring.ScheduledOnce}, {@link
 * io.pawl.spring.Leader}, and the lease of the call that runs, {@link io.pawl.spring.Leases}.
 */
@NullMarked
package io.pawl.spring;

import org.jspecify.annotations.NullMarked;
