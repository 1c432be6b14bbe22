package io.pawl.sql.lock;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.spi.ClaimId;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.connection.OwnThread;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.PostgresDialect;
import io.pawl.sql.transaction.Borrowed;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * LISTEN on one connection per client, opened when someone waits and closed 10 s after the last.
 * Whoever grants a claim sends its id to the channel of its client, within the granting
 * transaction, so that no notification speaks of what was rolled back.
 *
 * <p>NOTIFY needs no right but to connect, so that anybody may have sent it: it is a reason to look
 * at the row, one query for all that have arrived, and what the row says counts. What was granted
 * before LISTEN took effect is found by such a look after it.
 */
final class PostgresBell implements Doorbell {

  private static final int LISTEN_MILLIS = 250;
  private static final long LINGER_NANOS = 10_000_000_000L;
  private static final long SILENCE_NANOS = 5_000_000_000L;
  private static final long RETRY_NANOS = 100_000_000;

  /** Once it listens for so many clients, those that have gone are left out by a new connection. */
  private static final int MANY_CHANNELS = 1_000;

  private static final Logger log = LoggerFactory.getLogger(PostgresBell.class);

  private final Database database;
  private final WaitingClaims waiters;
  private final ThreadPoolExecutor listenThread;
  private final AtomicBoolean listening = new AtomicBoolean();
  private final Set<String> wanted = ConcurrentHashMap.newKeySet();
  private final CountDownLatch closing = new CountDownLatch(1);
  private volatile boolean closed;

  /** How often in a row it has failed to listen. */
  private int failures;

  PostgresBell(Database database, WaitingClaims waiters, String threadName) {
    this.database = database;
    this.waiters = waiters;
    this.listenThread = OwnThread.named(threadName);
  }

  @Override
  public void watch(ClaimId id) {
    wanted.add(PostgresDialect.channel(id));
    if (!closed && listening.compareAndSet(false, true)) {
      try {
        listenThread.execute(this::listen);
      } catch (Error e) { // no thread can be started: whoever waits next tries again
        log.debug("nobody listens; renewals will tell", e);
        listening.set(false);
      }
    }
  }

  private void listen() {
    try {
      listenWhileSomeoneWaits();
    } catch (SQLException | RuntimeException | Error e) {
      log.debug("listening failed; renewals will tell, and listening goes on", e);
      Uninterruptibly.await(closing, Doorbell.pauseNanos(RETRY_NANOS, ++failures));
    } finally {
      listening.set(false);
    }
    waiters.all().forEach(this::watch);
  }

  private void listenWhileSomeoneWaits() throws SQLException {
    Set<String> channels = new HashSet<>();
    int most = Math.max(MANY_CHANNELS, 2 * wanted.size());
    try (Borrowed borrowed = Borrowed.reader(database)) {
      Connection connection = borrowed.connection();
      PGConnection postgres = connection.unwrap(PGConnection.class);
      long someoneWaitedAt = System.nanoTime();
      long heardAt = System.nanoTime();
      while (!closed
          && channels.size() < most
          && System.nanoTime() - someoneWaitedAt < LINGER_NANOS) {
        if (channels.size() < wanted.size()) {
          listenTo(connection, channels);
          lookAtRows(connection, waiters.locks());
        }
        PGNotification[] heard = postgres.getNotifications(LISTEN_MILLIS);
        failures = 0;
        if (heard != null && heard.length > 0) {
          heardAt = System.nanoTime();
          lookAtRows(connection, locksOf(heard));
        } else if (System.nanoTime() - heardAt > SILENCE_NANOS) {
          checkAlive(connection);
          heardAt = System.nanoTime();
        }
        if (!waiters.isEmpty()) {
          someoneWaitedAt = System.nanoTime();
        }
      }
    } finally {
      wanted.removeAll(channels);
    }
  }

  private void listenTo(Connection connection, Set<String> channels) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String channel : wanted) {
        if (channels.add(channel)) {
          statement.execute("LISTEN \"" + channel + '"');
        }
      }
    }
  }

  /** The locks of those claims that were named and wait here. */
  private Set<String> locksOf(PGNotification[] heard) {
    Set<String> locks = new HashSet<>();
    for (PGNotification one : heard) {
      String lock = waiters.lockOf(one.getParameter());
      if (lock != null) {
        locks.add(lock);
      }
    }
    return locks;
  }

  /** Whole rows where others of ours may stand behind the one that was granted. */
  private void lookAtRows(Connection connection, Set<String> locks) throws SQLException {
    Set<String> crowded = waiters.crowded();
    crowded.retainAll(locks);
    List<String> quiet = new ArrayList<>(locks);
    quiet.removeAll(crowded);
    lookAtRows(connection, quiet, false);
    lookAtRows(connection, List.copyOf(crowded), true);
  }

  private void lookAtRows(Connection connection, List<String> locks, boolean whole)
      throws SQLException {
    Dialect dialect = database.dialect();
    for (int from = 0; from < locks.size(); from += Combiner.MAX_BATCH) {
      List<String> some = locks.subList(from, Math.min(locks.size(), from + Combiner.MAX_BATCH));
      try (PreparedStatement select =
          connection.prepareStatement(
              whole ? dialect.readLocks(some.size()) : Row.selectHolders(some.size()))) {
        if (whole) {
          LockRows.bindTwice(some, select);
        } else {
          LockRows.bind(some, select, 1);
        }
        Map<String, StoredLock> found = new HashMap<>();
        try (ResultSet rows = select.executeQuery()) {
          if (whole) {
            LockRows.read(rows, found);
          }
          while (!whole && rows.next()) {
            Row row = Row.read(rows);
            found.put(row.name(), StoredLock.alone(row));
          }
        }
        for (StoredLock lock : found.values()) {
          LockState state = lock.glance();
          if (state != null) {
            waiters.ring(state.holders().stream().map(state::grantOf).toList());
          }
        }
      }
    }
  }

  private static void checkAlive(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SELECT 1");
    }
  }

  @Override
  public void close() {
    closed = true;
    closing.countDown();
    OwnThread.end(listenThread);
  }
}
