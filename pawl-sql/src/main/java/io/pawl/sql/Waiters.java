package io.pawl.sql;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockState;
import io.pawl.spi.LockState.Entry;
import io.pawl.spi.Standing;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The claims of this client that wait, and their bells. Grants made by this client ring at once;
 * those made by others are found by one poll for all: silent when nobody waits, a cheap look
 * whether the database has changed at all every 1 to 16 ms, and only then at the rows that are
 * waited for.
 *
 * <p>Correctness never depends on it: the engine asks by renewal whatever a bell left untold.
 */
final class Waiters implements AutoCloseable {

  private static final long SHORTEST_PAUSE_NANOS = 1_000_000;
  private static final long LONGEST_PAUSE_NANOS = 16_000_000;

  private static final Logger log = LoggerFactory.getLogger(Waiters.class);

  private record Waiting(String lock, Bell bell) {}

  private final Dialect dialect;
  private final ConcurrentHashMap<ClaimId, Waiting> waiting = new ConcurrentHashMap<>();
  private final ThreadPoolExecutor pollThread;
  private final AtomicBoolean polling = new AtomicBoolean();
  private volatile boolean closed;

  Waiters(Dialect dialect, String threadName) {
    this.dialect = dialect;
    this.pollThread = OwnThread.named(threadName);
  }

  /** {@code claim} may be granted from now on. */
  void add(Claim claim, Bell bell) {
    waiting.put(claim.id(), new Waiting(claim.lock(), bell));
  }

  /** {@code id} does not wait any more. */
  void remove(ClaimId id) {
    waiting.remove(id);
  }

  /** {@code id} was told that it waits: somebody has to watch. */
  void watch(ClaimId id) {
    if (waiting.containsKey(id) && !closed && polling.compareAndSet(false, true)) {
      pollThread.execute(this::poll);
    }
  }

  /** Rings the bells of those claims that are ours. */
  void ring(List<Entry> granted) {
    for (Entry entry : granted) {
      Waiting waiter = waiting.remove(entry.id());
      if (waiter != null) {
        waiter.bell().ring(new Standing.Held(entry.token(), entry.lastToken()));
      }
    }
  }

  private void poll() {
    try (Connection reader = dialect.openReader();
        PreparedStatement select = reader.prepareStatement(Row.SELECT + " WHERE name = ?")) {
      long seen = dialect.changes(reader) - 1;
      long pause = SHORTEST_PAUSE_NANOS;
      while (!waiting.isEmpty() && !closed) {
        long changes = dialect.changes(reader);
        if (changes != seen) {
          seen = changes;
          pause = SHORTEST_PAUSE_NANOS;
          lookAtRows(reader, select);
        } else {
          pause = Math.min(pause + pause / 4, LONGEST_PAUSE_NANOS);
        }
        LockSupport.parkNanos(pause);
      }
    } catch (SQLException e) {
      log.debug("polling failed; renewals will tell, and the next wait polls again", e);
    } finally {
      polling.set(false);
    }
    if (!waiting.isEmpty()) {
      waiting.keySet().stream().findAny().ifPresent(this::watch);
    }
  }

  private void lookAtRows(Connection reader, PreparedStatement select) throws SQLException {
    Set<String> locks = new HashSet<>();
    waiting.values().forEach(waiter -> locks.add(waiter.lock()));
    for (String lock : locks) {
      LockState state = read(reader, select, lock);
      if (state != null) {
        ring(List.copyOf(state.holders()));
      }
    }
  }

  private @Nullable LockState read(Connection reader, PreparedStatement select, String lock)
      throws SQLException {
    select.setString(1, lock);
    try (ResultSet row = select.executeQuery()) {
      return row.next() ? Row.read(row).state(dialect.now(reader)) : null;
    }
  }

  @Override
  public void close() {
    closed = true;
    waiting.clear();
    pollThread.shutdown();
  }
}
