package io.pawl.sql.lock;

import io.pawl.spi.ClaimId;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.connection.OwnThread;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.transaction.Borrowed;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One poll for all claims of a client that wait, and none while nobody waits. Each look is one
 * query, for up to {@link Combiner#MAX_BATCH} rows; a client that waits for more takes turns. How
 * soon it looks again follows from how long has been waited: see {@link QueuePlace}.
 */
final class RowPoll implements Doorbell {

  /** How long the connection is kept, silent, after the last waiter. */
  private static final long LINGER_NANOS = 1_000_000_000;

  private static final long RETRY_NANOS = 10_000_000;
  private static final long SOON_NANOS = 1_000_000;

  private static final Logger log = LoggerFactory.getLogger(RowPoll.class);

  private final Database database;
  private final WaitingClaims waiters;
  private final long shortestNanos;
  private final long placeNanos;
  private final ThreadPoolExecutor pollThread;
  private final AtomicBoolean polling = new AtomicBoolean();
  private volatile @Nullable Thread poller;
  private volatile boolean closed;

  /** The poller's notes on the locks that are waited for. */
  private final Map<String, Long> lookedAt = new HashMap<>();

  private final Map<String, Long> lastTokens = new HashMap<>();
  private final Map<String, Long> changesSeen = new HashMap<>();

  /** How often in a row it has failed to look. */
  private int failures;

  RowPoll(Database database, WaitingClaims waiters, String threadName) {
    this.database = database;
    this.waiters = waiters;
    this.shortestNanos = database.connections().areOurs() ? 1_000_000 : 5_000_000;
    this.placeNanos = database.dialect().looksCheaply() ? 0 : shortestNanos;
    this.pollThread = OwnThread.named(threadName);
  }

  @Override
  public void watch(ClaimId id) {
    if (!closed && polling.compareAndSet(false, true)) {
      try {
        pollThread.execute(this::poll);
      } catch (Error e) { // no thread can be started: whoever waits next tries again
        log.debug("nobody polls; renewals will tell", e);
        polling.set(false);
      }
    } else {
      LockSupport.unpark(poller);
    }
  }

  private void poll() {
    try {
      pollWhileSomeoneWaits();
    } catch (SQLException | RuntimeException | Error e) {
      log.debug("polling failed; renewals will tell, and polling goes on", e);
      LockSupport.parkNanos(Doorbell.pauseNanos(RETRY_NANOS, ++failures));
    } finally {
      poller = null;
      polling.set(false);
    }
    waiters.any().forEach(this::watch);
  }

  private void pollWhileSomeoneWaits() throws SQLException {
    Looks looks = null;
    poller = Thread.currentThread();
    forgetAllBut(Set.of());
    try {
      while (!closed && (!waiters.isEmpty() || someoneComes())) {
        Map<String, Long> next = waiters.nextLooks(lookedAt, shortestNanos, placeNanos);
        forgetAllBut(next.keySet());
        long now = System.nanoTime();
        List<String> due = due(next, now);
        if (due.isEmpty()) {
          pauseUntil(next.values(), now);
          continue;
        }
        if (looks == null) {
          looks = new Looks(Borrowed.reader(database));
          changesSeen.clear(); // each connection counts them for itself
        }
        looks.look(due);
        failures = 0;
        if (!database.connections().areOurs()) {
          looks.close(); // the application may need it meanwhile
          looks = null;
        }
        long looked = System.nanoTime();
        due.forEach(lock -> lookedAt.put(lock, looked));
      }
    } catch (SQLException | RuntimeException | Error e) {
      if (looks != null) {
        looks.reader.markFailed();
      }
      throw e;
    } finally {
      if (looks != null) {
        looks.close();
      }
    }
  }

  private void forgetAllBut(Set<String> locks) {
    lookedAt.keySet().retainAll(locks);
    lastTokens.keySet().retainAll(locks);
    changesSeen.keySet().retainAll(locks);
  }

  /**
   * Those whose time has come, or comes within 1 ms, the longest overdue first; as many as one
   * query may name, the others are due still when it has been answered.
   */
  static List<String> due(Map<String, Long> next, long now) {
    if (next.values().stream().noneMatch(at -> at - now <= 0)) {
      return List.of();
    }
    return next.entrySet().stream()
        .filter(look -> look.getValue() - now <= SOON_NANOS)
        .sorted(Comparator.comparingLong(look -> look.getValue() - now))
        .map(Map.Entry::getKey)
        .limit(Combiner.MAX_BATCH)
        .toList();
  }

  private void pauseUntil(Collection<Long> next, long now) {
    long pause = QueuePlace.LONGEST_PAUSE_NANOS;
    for (long at : next) {
      pause = Math.min(pause, at - now);
    }
    LockSupport.parkNanos(this, pause);
  }

  /** Waits without a query for whoever waits next, and says whether there is one. */
  private boolean someoneComes() {
    long giveUpAt = System.nanoTime() + LINGER_NANOS;
    for (long left = LINGER_NANOS;
        left > 0 && waiters.isEmpty() && !closed;
        left = giveUpAt - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
    return !waiters.isEmpty();
  }

  /** Looks on one connection. */
  private final class Looks implements AutoCloseable {

    private final Borrowed reader;
    private @Nullable PreparedStatement select;
    private int selected;

    Looks(Borrowed reader) {
      this.reader = reader;
    }

    /** Rings what was granted. */
    void look(List<String> due) throws SQLException {
      long changes = database.dialect().changes(reader.connection());
      List<String> locks = new ArrayList<>();
      for (String lock : due) {
        Long seen = changesSeen.put(lock, changes);
        if (seen == null || seen != changes) {
          locks.add(lock);
        }
      }
      if (locks.isEmpty()) {
        return;
      }
      List<String> ofInterest = new ArrayList<>();
      for (Row row : read(locks)) {
        if (row.isFree()) {
          waiters.serveFree(row.name());
          continue;
        }
        Long before = lastTokens.put(row.name(), row.lastToken());
        if (before != null && before == row.lastToken()) {
          continue;
        }
        if (before != null) {
          waiters.movedOn(row.name(), System.nanoTime());
        }
        LockState state = StoredLock.alone(row).glance();
        if (state == null) {
          continue; // the others are rung for
        }
        if (database.dialect().showsBeforeItKeeps()) {
          waiters.keep(row.name(), state.holders().stream().map(LockState.Entry::id).toList());
        } else if (state.holders().stream().anyMatch(holder -> waiters.hasCompany(holder.id()))) {
          ofInterest.add(row.name());
        } else {
          ring(state);
        }
      }
      for (String lock : ofInterest) {
        ringWithFollowers(lock);
      }
    }

    private void ring(LockState state) {
      waiters.ring(state.holders().stream().map(state::grantOf).toList());
    }

    /** Reads the whole row: others of ours may stand behind the one that was granted. */
    private void ringWithFollowers(String lock) throws SQLException {
      try (PreparedStatement whole =
          reader.connection().prepareStatement(database.dialect().readLocks(1))) {
        LockRows.bindTwice(List.of(lock), whole);
        Map<String, StoredLock> found = new HashMap<>();
        try (ResultSet rows = whole.executeQuery()) {
          LockRows.read(rows, found);
        }
        for (StoredLock stored : found.values()) {
          LockState state = stored.glance();
          if (state != null) {
            ring(state);
          }
        }
      }
    }

    private List<Row> read(List<String> locks) throws SQLException {
      List<Row> rows = new ArrayList<>();
      int places = powerOfTwo(locks.size());
      PreparedStatement statement = select(places);
      for (int i = 0; i < places; i++) {
        statement.setString(i + 1, locks.get(Math.min(i, locks.size() - 1)));
      }
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          rows.add(Row.read(found));
        }
      }
      return rows;
    }

    /** So that few texts are prepared for all numbers of locks. */
    private static int powerOfTwo(int least) {
      return least == 1 ? 1 : Integer.highestOneBit(least - 1) << 1;
    }

    private PreparedStatement select(int n) throws SQLException {
      PreparedStatement statement = select;
      if (statement == null || selected != n) {
        if (statement != null) {
          statement.close();
        }
        statement = reader.connection().prepareStatement(Row.selectHolders(n));
        select = statement;
        selected = n;
      }
      return statement;
    }

    @Override
    public void close() {
      try {
        if (select != null) {
          select.close();
        }
      } catch (SQLException | RuntimeException | Error e) {
        log.debug("a look did not end well, its connection is given up", e);
        reader.markFailed();
      }
      reader.close();
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(poller);
    OwnThread.end(pollThread);
  }
}
