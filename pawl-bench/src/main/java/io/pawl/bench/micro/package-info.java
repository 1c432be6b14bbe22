/** JMH benchmarks of single operations. */
@NullMarked
package io.pawl.bench.micro;

import org.jspecify.annotations.NullMarked;
