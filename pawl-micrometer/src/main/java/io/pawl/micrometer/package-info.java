/**
 * Pawl's locks as meters of Micrometer: {@link io.pawl.micrometer.LockMeters} is told what happens
 * to locks, {@link io.pawl.micrometer.StoreMeters} reads what a client counts.
 */
@NullMarked
package io.pawl.micrometer;

import org.jspecify.annotations.NullMarked;
