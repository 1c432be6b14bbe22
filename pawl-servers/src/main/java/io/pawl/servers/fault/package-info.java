/** Faults to play on servers and on JVMs, for runs that follow a plan. */
@NullMarked
package io.pawl.servers.fault;

import org.jspecify.annotations.NullMarked;
