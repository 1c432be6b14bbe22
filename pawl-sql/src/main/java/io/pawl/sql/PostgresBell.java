package io.pawl.sql;

import io.pawl.spi.ClaimId;
import io.pawl.spi.LockState;
import io.pawl.spi.LockState.Grant;
import io.pawl.spi.Standing;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * LISTEN on one connection per client, opened when someone waits and closed 10 s after the last.
 * Whoever grants a claim sends its id and tokens to the channel of its client, within the granting
 * transaction, so that no notification speaks of what was rolled back.
 *
 * <p>What was granted before LISTEN took effect is found by one look at the rows after it.
 */
final class PostgresBell implements Doorbell {

  private static final int LISTEN_MILLIS = 250;
  private static final long LINGER_NANOS = 10_000_000_000L;
  private static final long SILENCE_NANOS = 5_000_000_000L;
  private static final long RETRY_NANOS = 100_000_000;

  private static final Logger log = LoggerFactory.getLogger(PostgresBell.class);

  private final Database database;
  private final Waiters waiters;
  private final ThreadPoolExecutor listenThread;
  private final AtomicBoolean listening = new AtomicBoolean();
  private final Set<String> wanted = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  PostgresBell(Database database, Waiters waiters, String threadName) {
    this.database = database;
    this.waiters = waiters;
    this.listenThread = OwnThread.named(threadName);
  }

  @Override
  public void watch(ClaimId id) {
    wanted.add(PostgresDialect.channel(id));
    if (!closed && listening.compareAndSet(false, true)) {
      listenThread.execute(this::listen);
    }
  }

  private void listen() {
    try {
      listenWhileSomeoneWaits();
    } catch (SQLException | RuntimeException e) {
      log.debug("listening failed; renewals will tell, and listening goes on", e);
      LockSupport.parkNanos(RETRY_NANOS);
    } finally {
      listening.set(false);
    }
    waiters.any().forEach(this::watch);
  }

  private void listenWhileSomeoneWaits() throws SQLException {
    Set<String> channels = new HashSet<>();
    try (Borrowed borrowed = Borrowed.reader(database)) {
      Connection connection = borrowed.connection();
      PGConnection postgres = connection.unwrap(PGConnection.class);
      long someoneWaitedAt = System.nanoTime();
      long heardAt = System.nanoTime();
      while (!closed && System.nanoTime() - someoneWaitedAt < LINGER_NANOS) {
        if (channels.size() < wanted.size()) {
          listenTo(connection, channels);
          lookAtRows(connection);
        }
        PGNotification[] heard = postgres.getNotifications(LISTEN_MILLIS);
        if (heard != null && heard.length > 0) {
          heardAt = System.nanoTime();
          for (PGNotification one : heard) {
            ring(one.getParameter());
          }
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

  private void lookAtRows(Connection connection) throws SQLException {
    List<String> locks = new ArrayList<>(waiters.locks());
    for (int from = 0; from < locks.size(); from += Combiner.MAX_BATCH) {
      List<String> some = locks.subList(from, Math.min(locks.size(), from + Combiner.MAX_BATCH));
      try (PreparedStatement select = connection.prepareStatement(Row.selectHolders(some.size()))) {
        for (int i = 0; i < some.size(); i++) {
          select.setString(i + 1, some.get(i));
        }
        try (ResultSet rows = select.executeQuery()) {
          while (rows.next()) {
            LockState state = Row.read(rows).state(Row.NO_CLOCK);
            waiters.ring(state.holders().stream().map(state::grantOf).toList());
          }
        }
      }
    }
  }

  /** {@code <claim id> <token> <last token> <number of follower> …}, at most 1,400 bytes. */
  static String payload(Grant grant) {
    Standing.Held held = grant.held();
    StringBuilder words = new StringBuilder();
    words.append(grant.id()).append(' ').append(held.token()).append(' ').append(held.lastToken());
    held.followers().forEach(follower -> words.append(' ').append(follower.number()));
    return words.toString();
  }

  private void ring(String payload) {
    String[] words = payload.split(" ");
    ClaimId id = ClaimId.parse(words[0]);
    List<ClaimId> followers = new ArrayList<>();
    for (int i = 3; i < words.length; i++) {
      followers.add(new ClaimId(id.client(), Long.parseLong(words[i])));
    }
    waiters.ring(
        id, new Standing.Held(Long.parseLong(words[1]), Long.parseLong(words[2]), followers));
  }

  private static void checkAlive(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SELECT 1");
    }
  }

  @Override
  public void close() {
    closed = true;
    OwnThread.end(listenThread);
  }
}
