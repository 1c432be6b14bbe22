package io.pawl.sql.lock;

import io.pawl.spi.ClaimId;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.connection.OwnThread;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.transaction.Borrowed;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One poll for all claims of a client that wait, and none while nobody waits. Each look is one
 * query, for up to {@link Combiner#MAX_BATCH} rows; a client that waits for more takes turns. Looks
 * that find nothing new become rarer, down to the dialect's longest pause.
 */
final class RowPoll implements Doorbell {

  /** How long the connection is kept, silent, after the last waiter. */
  private static final long LINGER_NANOS = 1_000_000_000;

  private static final Logger log = LoggerFactory.getLogger(RowPoll.class);

  private final Database database;
  private final Waiters waiters;
  private final Dialect.PollPauses pauses;
  private final ThreadPoolExecutor pollThread;
  private final AtomicBoolean polling = new AtomicBoolean();
  private volatile @Nullable Thread lingering;
  private volatile boolean closed;

  RowPoll(Database database, Waiters waiters, String threadName) {
    this.database = database;
    this.waiters = waiters;
    this.pauses = database.dialect().pollPauses();
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
      LockSupport.unpark(lingering);
    }
  }

  private void poll() {
    try {
      pollWhileSomeoneWaits();
    } catch (SQLException | RuntimeException | Error e) {
      log.debug("polling failed; renewals will tell, and polling goes on", e);
      LockSupport.parkNanos(pauses.longestNanos());
    } finally {
      polling.set(false);
    }
    waiters.any().forEach(this::watch);
  }

  private void pollWhileSomeoneWaits() throws SQLException {
    Looks looks = null;
    long pause = pauses.shortestNanos();
    try {
      while (!closed && (!waiters.isEmpty() || someoneComes())) {
        if (looks == null) {
          looks = new Looks(Borrowed.reader(database));
        }
        boolean news = looks.look();
        if (!database.connections().areOurs()) {
          looks.close(); // the application may need it meanwhile
          looks = null;
        }
        pause = news ? pauses.shortestNanos() : Math.min(pause + pause / 4, pauses.longestNanos());
        LockSupport.parkNanos(pause);
      }
    } catch (SQLException | RuntimeException e) {
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

  /** Waits without a query for whoever waits next, and says whether there is one. */
  private boolean someoneComes() {
    long giveUpAt = System.nanoTime() + LINGER_NANOS;
    lingering = Thread.currentThread();
    try {
      for (long left = LINGER_NANOS;
          left > 0 && waiters.isEmpty() && !closed;
          left = giveUpAt - System.nanoTime()) {
        LockSupport.parkNanos(this, left);
      }
    } finally {
      lingering = null;
    }
    return !waiters.isEmpty();
  }

  /** Looks on one connection. */
  private final class Looks implements AutoCloseable {

    private final Borrowed reader;
    private final Map<String, Long> lastTokens = new HashMap<>();
    private @Nullable PreparedStatement select;
    private int selected;
    private int turn;
    private long changesSeen;

    Looks(Borrowed reader) throws SQLException {
      this.reader = reader;
      try {
        this.changesSeen = database.dialect().changes(reader.connection()) - 1;
      } catch (SQLException | RuntimeException | Error e) {
        reader.markFailed();
        reader.close();
        throw e;
      }
    }

    /** Rings what was granted; says whether anything has changed. */
    boolean look() throws SQLException {
      long changes = database.dialect().changes(reader.connection());
      if (changes == changesSeen) {
        return false;
      }
      changesSeen = changes;
      List<String> locks = turn(new ArrayList<>(waiters.locks()));
      boolean news = false;
      List<String> ofInterest = new ArrayList<>();
      for (Row row : read(locks)) {
        Long before = lastTokens.put(row.name(), row.lastToken());
        if (before == null || before != row.lastToken()) {
          LockState state = row.glance();
          if (state == null) {
            continue; // the others are rung for
          }
          if (state.holders().stream().anyMatch(holder -> waiters.hasCompany(holder.id()))) {
            ofInterest.add(row.name());
            news = true;
          } else {
            news |= ring(state) || before != null;
          }
        }
      }
      for (String lock : ofInterest) {
        ringWithFollowers(lock);
      }
      lastTokens.keySet().retainAll(locks);
      return news;
    }

    private boolean ring(LockState state) {
      return waiters.ring(state.holders().stream().map(state::grantOf).toList());
    }

    /** Reads the whole row: others of ours may stand behind the one that was granted. */
    private void ringWithFollowers(String lock) throws SQLException {
      try (PreparedStatement whole =
          reader.connection().prepareStatement(Row.SELECT + " WHERE name = ?")) {
        whole.setString(1, lock);
        try (ResultSet found = whole.executeQuery()) {
          while (found.next()) {
            LockState state = Row.read(found).glance();
            if (state != null) {
              ring(state);
            }
          }
        }
      }
    }

    private List<String> turn(List<String> locks) {
      int turns = Math.max(1, (locks.size() + Combiner.MAX_BATCH - 1) / Combiner.MAX_BATCH);
      int from = turn++ % turns * Combiner.MAX_BATCH;
      return locks.subList(from, Math.min(locks.size(), from + Combiner.MAX_BATCH));
    }

    private List<Row> read(List<String> locks) throws SQLException {
      List<Row> rows = new ArrayList<>();
      if (locks.isEmpty()) {
        return rows;
      }
      PreparedStatement statement = select(locks.size());
      for (int i = 0; i < locks.size(); i++) {
        statement.setString(i + 1, locks.get(i));
      }
      try (ResultSet found = statement.executeQuery()) {
        while (found.next()) {
          rows.add(Row.read(found));
        }
      }
      return rows;
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
    public void close() throws SQLException {
      try {
        if (select != null) {
          select.close();
        }
      } finally {
        reader.close();
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(lingering);
    OwnThread.end(pollThread);
  }
}
