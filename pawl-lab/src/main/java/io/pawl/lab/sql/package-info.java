/**
 * Locks in MySQL as they are often written, each with the schedule that breaks it or shows its
 * cost.
 */
@NullMarked
package io.pawl.lab.sql;

import org.jspecify.annotations.NullMarked;
