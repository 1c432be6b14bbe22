/**
 * Real servers as private processes on loopback, for tests and the bench: started on a free port in
 * a temporary folder, paused, continued, killed and restarted at will, and reached through a proxy
 * that simulates network faults. Nothing is installed. A server that this machine lacks is fetched
 * once into the user's cache; if that is impossible, the exception says what to do.
 *
 * <p>Nothing outlives the JVM, even one that is killed.
 */
@NullMarked
package io.pawl.servers;

import org.jspecify.annotations.NullMarked;
