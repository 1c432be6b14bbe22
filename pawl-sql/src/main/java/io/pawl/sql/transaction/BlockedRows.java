package io.pawl.sql.transaction;

import io.pawl.error.StoreUnavailableException;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Table;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Rows that somebody keeps locked, a person with an open transaction or a process that was stopped
 * in one, and the requests that are put off until they are free. Such a row delays whoever shares a
 * batch with it once, by the time that the database waits for a row; from then on it is asked for
 * without waiting, and the others go on. Nobody says which row of the batch it was: each is suspect
 * until it was locked. One that is always busy is never found free, so every other second a suspect
 * is waited for {@linkplain RowWait beside the others}; one that is got so is waited for in its
 * turn again.
 *
 * <p>A row that is not there may be one that somebody is making, whom no read shows: such rows are
 * made a few at a time, with a short wait, and one that was waited for in vain not again for a
 * second.
 *
 * <p>For whoever is at work, except {@link #isEmpty} and {@link #close}.
 */
public final class BlockedRows<R extends Pending<?>> implements AutoCloseable {

  /** How long a request is put off in all. */
  static final long PATIENCE_NANOS = 5_000_000_000L;

  /** How often is looked whether a row is free. */
  public static final long PAUSE_NANOS = 5_000_000;

  private static final long MAKING_PAUSE_NANOS = 1_000_000_000L;

  /** From the beginning of a wait for a row to that of the next one for the same row. */
  private static final long WAITING_PAUSE_NANOS = 2_000_000_000L;

  private static final int MAX_SUSPECTS = 10_000;

  /**
   * When a suspect is due.
   *
   * @param makeFrom to be made, should it be missing
   * @param waitFrom to be waited for
   */
  private record Due(long makeFrom, long waitFrom) {}

  private final Database database;
  private final String what;
  private final Table table;
  private final String tables;
  private final Tally tally;
  private final RowWait rowWait;
  private final Map<String, Due> suspects = new LinkedHashMap<>();
  private final ConcurrentLinkedQueue<R> putOff = new ConcurrentLinkedQueue<>();
  private long lookedAt;

  /** Whether a suspect was found free since what was put off was last looked at. */
  private boolean freed;

  /** What is being made, until it is known that nobody else makes it. */
  private final Set<String> inMaking = new LinkedHashSet<>();

  private int mostMade = 1;

  /** Makes rows. */
  public interface Making {
    void make(Collection<String> names) throws SQLException;
  }

  /**
   * @param what the rows of {@code table} are
   * @param tables where a row may be that blocks a request, for messages
   */
  public BlockedRows(
      Database database, String what, Table table, String tables, Tally tally, String threadName) {
    this.database = database;
    this.what = what;
    this.table = table;
    this.tables = tables;
    this.tally = tally;
    this.rowWait = new RowWait(database, table, threadName);
  }

  public boolean isEmpty() {
    return putOff.isEmpty();
  }

  /** One of the rows of {@code batch} was waited for in vain. */
  public void suspect(List<R> batch) {
    hearOfFree();
    long now = System.nanoTime();
    if (!inMaking.isEmpty()) {
      mostMade = Math.max(1, inMaking.size() / 4);
      if (inMaking.size() == 1) {
        inMaking.forEach(name -> suspects.put(name, new Due(now + MAKING_PAUSE_NANOS, now)));
      }
      inMaking.clear();
      return;
    }
    Due due = new Due(now, now);
    batch.forEach(request -> request.names().forEach(name -> suspects.putIfAbsent(name, due)));
    while (suspects.size() > MAX_SUSPECTS) {
      suspects.remove(suspects.keySet().iterator().next());
    }
  }

  /** Those of {@code names} that were locked by others when last asked for. */
  public Set<String> suspectsAmong(Collection<String> names) {
    inMaking.clear();
    hearOfFree();
    Set<String> found = new LinkedHashSet<>(names);
    found.retainAll(suspects.keySet());
    return found;
  }

  /**
   * Those of {@code missing} rows that are not to be made in this transaction, since somebody may
   * be making them. Makes some of the other suspects among them; where somebody makes one of these,
   * the transaction fails soon. Two or three trips more where there are suspects.
   */
  public Set<String> notToBeMade(Session session, Collection<String> missing, Making making)
      throws SQLException {
    long now = System.nanoTime();
    Set<String> later = suspectsAmong(missing);
    for (String name : later) {
      Due due = suspects.get(name);
      if (due != null && now - due.makeFrom >= 0 && inMaking.size() < mostMade) {
        inMaking.add(name);
      }
    }
    later.removeAll(inMaking);
    if (!inMaking.isEmpty()) {
      Dialect dialect = database.dialect();
      dialect.failSoonIfMade(session.connection(), table, inMaking);
      making.make(inMaking);
      dialect.waitAsUsual(session.connection());
      areMade(inMaking);
    }
    return later;
  }

  public boolean concern(R request) {
    return !suspects.isEmpty() && request.names().stream().anyMatch(suspects::containsKey);
  }

  /** Requests for them that were put off are due then: whoever comes later is not served first. */
  private void hearOfFree() {
    Collection<String> free = rowWait.takeFree();
    areFree(free);
    freed |= !free.isEmpty();
  }

  public void areFree(Collection<String> names) {
    suspects.keySet().removeAll(names);
  }

  /** Rows that are there and that others had locked just now: waits for one that is due. */
  public void areLocked(Collection<String> names) {
    if (names.isEmpty() || !rowWait.isIdle()) {
      return;
    }
    long now = System.nanoTime();
    String next = null;
    Due longest = new Due(now, now);
    for (String name : names) {
      Due due = suspects.get(name);
      if (due != null && due.waitFrom - longest.waitFrom <= 0) {
        next = name;
        longest = due;
      }
    }
    if (next != null) {
      suspects.put(next, new Due(longest.makeFrom, now + WAITING_PAUSE_NANOS));
      rowWait.begin(next);
    }
  }

  /** Whoever waits for a row from now on waits for another. */
  private void areMade(Set<String> names) {
    mostMade = Math.min(mostMade * 2, Dialect.MAX_ROWS);
    names.clear();
  }

  /** As {@link #takeAll}, if it is time to look again. */
  public void takeDue(List<R> batch) {
    hearOfFree();
    boolean due = !putOff.isEmpty() && (freed || System.nanoTime() - lookedAt >= PAUSE_NANOS);
    freed = false;
    if (due) {
      takeAll(batch);
    }
  }

  /** Puts what was put off before all of {@code batch}, in its order. */
  public void takeAll(List<R> batch) {
    int at = 0;
    for (R next = putOff.peek(); next != null; next = putOff.peek()) {
      batch.add(at++, next); // first, so that it is answered though memory is out
      putOff.remove();
    }
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
    String failure =
        database.describe()
            + ": "
            + what
            + " "
            + request.names()
            + ": for 5 s another transaction has kept its row of "
            + tables
            + " locked; it is not"
            + " Pawl's, or its process has stopped: find it on the server and end it";
    request.failed(
        request.isInDoubt()
            ? new StoreUnavailableException(failure)
            : StoreUnavailableException.unsent(failure, null));
  }

  /** Waits for no row beside the others any more. */
  @Override
  public void close() {
    rowWait.close();
  }
}
