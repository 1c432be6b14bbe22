/** Single operations: JMH benchmarks, and scripts on a Redis server. */
@NullMarked
package io.pawl.bench.micro;

import org.jspecify.annotations.NullMarked;
