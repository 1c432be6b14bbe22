package io.pawl.checker;

/**
 * Somebody stood in line for a lock, whatever came of it.
 *
 * @param lock the lock's name
 * @param waiter whoever waited, for people
 * @param span from the call to its return; open where it never returned
 */
public record Wait(String lock, String waiter, Span span) {}
