package io.pawl.sql.transaction;

import io.pawl.error.StoreUnavailableException;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Table;
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
public final class BlockedRows<R extends Pending<?>> {

  /** How long a request is put off in all. */
  static final long PATIENCE_NANOS = 5_000_000_000L;

  /** How often is looked whether a row is free. */
  public static final long PAUSE_NANOS = 5_000_000;

  private static final int MAX_SUSPECTS = 10_000;

  private final Database database;
  private final String what;
  private final Table table;
  private final Tally tally;
  private final Set<String> suspects = new LinkedHashSet<>();
  private final ConcurrentLinkedQueue<R> putOff = new ConcurrentLinkedQueue<>();
  private long lookedAt;

  /**
   * @param what the rows of {@code table} are
   */
  public BlockedRows(Database database, String what, Table table, Tally tally) {
    this.database = database;
    this.what = what;
    this.table = table;
    this.tally = tally;
  }

  public boolean isEmpty() {
    return putOff.isEmpty();
  }

  /** One of the rows of {@code batch} was waited for in vain. */
  public void suspect(List<R> batch) {
    batch.forEach(request -> suspects.addAll(request.names()));
    while (suspects.size() > MAX_SUSPECTS) {
      suspects.remove(suspects.iterator().next());
    }
  }

  /** Those of {@code locks} that were locked by others when last asked for. */
  public Set<String> suspectsAmong(Collection<String> names) {
    Set<String> found = new LinkedHashSet<>(names);
    found.retainAll(suspects);
    return found;
  }

  public boolean concern(R request) {
    return !suspects.isEmpty() && request.names().stream().anyMatch(suspects::contains);
  }

  public void areFree(Collection<String> names) {
    suspects.removeAll(names);
  }

  /** What was put off, if it is time to look again. */
  public List<R> takeDue() {
    boolean due = !putOff.isEmpty() && System.nanoTime() - lookedAt >= PAUSE_NANOS;
    return due ? takeAll() : new ArrayList<>();
  }

  public List<R> takeAll() {
    List<R> all = new ArrayList<>();
    for (R next = putOff.poll(); next != null; next = putOff.poll()) {
      all.add(next);
    }
    return all;
  }

  /** Puts {@code request} off, or fails it if it has been for too long. */
  public void putOff(R request) {
    lookedAt = System.nanoTime();
    long putOffFor = request.putOffFor(lookedAt);
    if (putOffFor == 0) {
      tally.putsOff();
    }
    if (putOffFor < PATIENCE_NANOS) {
      putOff.add(request);
      return;
    }
    request.failed(
        new StoreUnavailableException(
            database.describe()
                + ": "
                + what
                + " "
                + request.names()
                + ": for 5 s another transaction has kept its row of "
                + table.name()
                + " locked; it is not"
                + " Pawl's, or its process has stopped: find it on the server and end it"));
  }
}
