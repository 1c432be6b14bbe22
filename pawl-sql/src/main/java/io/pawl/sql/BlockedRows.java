package io.pawl.sql;

import io.pawl.StoreUnavailableException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Rows that somebody keeps locked, a person with an open transaction or a process that was stopped
 * in one, and the requests that are put off until they are free. Such a row delays whoever shares a
 * batch with it once, by the time that the database waits for a row; from then on it is asked for
 * without waiting, and the others go on.
 *
 * <p>For whoever is at work, except {@link #isEmpty}.
 */
final class BlockedRows {

  /** How long a request is put off in all. */
  static final long PATIENCE_NANOS = 5_000_000_000L;

  /** How often is looked whether a row is free. */
  static final long PAUSE_NANOS = 5_000_000;

  private static final int MAX_SUSPECTS = 10_000;

  private final Set<String> suspects = new LinkedHashSet<>();
  private final ConcurrentLinkedQueue<Request<?>> putOff = new ConcurrentLinkedQueue<>();
  private long lookedAt;

  boolean isEmpty() {
    return putOff.isEmpty();
  }

  /** One of the rows of {@code batch} was waited for in vain. */
  void suspect(List<Request<?>> batch) {
    batch.forEach(request -> suspects.addAll(request.locks()));
    while (suspects.size() > MAX_SUSPECTS) {
      suspects.remove(suspects.iterator().next());
    }
  }

  /** Those of {@code locks} that were locked by others when last asked for. */
  Set<String> suspectsAmong(Collection<String> locks) {
    Set<String> found = new LinkedHashSet<>(locks);
    found.retainAll(suspects);
    return found;
  }

  boolean concern(Request<?> request) {
    return !suspects.isEmpty() && request.locks().stream().anyMatch(suspects::contains);
  }

  void areFree(Collection<String> locks) {
    suspects.removeAll(locks);
  }

  /** What was put off, if it is time to look again. */
  List<Request<?>> takeDue() {
    boolean due = !putOff.isEmpty() && System.nanoTime() - lookedAt >= PAUSE_NANOS;
    return due ? takeAll() : new ArrayList<>();
  }

  List<Request<?>> takeAll() {
    List<Request<?>> all = new ArrayList<>();
    for (Request<?> next = putOff.poll(); next != null; next = putOff.poll()) {
      all.add(next);
    }
    return all;
  }

  /** Puts {@code request} off, or fails it if it has been for too long. */
  void putOff(Request<?> request, Database database) {
    lookedAt = System.nanoTime();
    if (request.putOffFor(lookedAt) < PATIENCE_NANOS) {
      putOff.add(request);
      return;
    }
    request.failed(
        new StoreUnavailableException(
            database.describe()
                + ": lock "
                + request.locks()
                + ": for 5 s another transaction has kept its row of pawl_lock locked; it is not"
                + " Pawl's, or its process has stopped: find it on the server and end it"));
  }
}
