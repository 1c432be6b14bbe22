/**
 * Real servers as private processes on loopback, for tests and the bench: started on a free port in
 * a temporary folder, paused, continued, killed and restarted at will, and reached through a proxy
 * that plays network faults. Nothing is installed; a server that this machine lacks is fetched once
 * into the user's cache, and one that cannot be had fails with what to do about it.
 *
 * <p>Nothing outlives the JVM, even one that is killed.
 */
@NullMarked
package io.pawl.servers;

import org.jspecify.annotations.NullMarked;
