/**
 * How a measurement is made: loads, forks, exclusion watched from outside, and what they counted.
 */
@NullMarked
package io.pawl.bench.contest;

import org.jspecify.annotations.NullMarked;
