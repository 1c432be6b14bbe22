package io.pawl.lab.chaos;

/**
 * A fault that was played.
 *
 * @param victim the number of the worker, -1 for a server's
 * @param part the name of the server, or of nothing
 * @param began by {@link System#nanoTime}, just before
 * @param ended just after
 * @param hits how much it hit: leases and waits of a worker, connections, replies or requests of a
 *     server; 0 says that it did not bite
 */
record Played(Fault.Kind kind, int victim, String part, long began, long ended, int hits) {}
