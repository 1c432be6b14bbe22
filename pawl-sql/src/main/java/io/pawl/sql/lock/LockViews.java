package io.pawl.sql.lock;

import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.dialect.Dialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Locks as people see them, read on one connection and without a lock on any row. */
public final class LockViews {

  /** So many names are asked for at once. */
  private static final int PAGE = 100;

  private final Dialect dialect;
  private final Connection connection;

  public LockViews(Dialect dialect, Connection connection) {
    this.dialect = dialect;
    this.connection = connection;
  }

  /** What was read in one trip, and when by the database's clock. */
  private record Seen(Map<String, StoredLock> locks, long now) {}

  /**
   * Nothing where the name was never used. One trip.
   *
   * @throws io.pawl.error.StoreException where its rows cannot be read
   */
  public Optional<LockView> one(String lock) throws SQLException {
    Seen seen = read(List.of(lock));
    StoredLock stored = seen.locks().get(lock);
    return stored == null
        ? Optional.empty()
        : Optional.of(settled(stored.state(seen.now()), seen).view(0));
  }

  /** The first {@code limit} that somebody holds or waits for, but those that cannot be read. */
  public List<LockView> busy(int limit) throws SQLException {
    List<LockView> views = new ArrayList<>();
    String last = "";
    Names.Marked page;
    do {
      page = Names.busy(connection, dialect, last);
      List<String> busy = page.names();
      for (int from = 0; from < busy.size() && views.size() < limit; from += PAGE) {
        addBusy(busy.subList(from, Math.min(busy.size(), from + PAGE)), limit, views);
      }
      last = page.last();
    } while (page.goesOn() && views.size() < limit);
    return views;
  }

  private void addBusy(List<String> names, int limit, List<LockView> views) throws SQLException {
    Seen seen = read(names);
    for (String name : names) {
      StoredLock stored = seen.locks().get(name);
      LockState state = stored == null ? null : stored.glance(seen.now());
      if (state != null && views.size() < limit && !settled(state, seen).isIdle()) {
        views.add(state.view(0));
      }
    }
  }

  private Seen read(List<String> names) throws SQLException {
    Map<String, StoredLock> locks = new LinkedHashMap<>();
    long newest = 0;
    int most = dialect.rowsPerStatement();
    for (int from = 0; from < names.size(); from += most) {
      List<String> chunk = names.subList(from, Math.min(names.size(), from + most));
      try (PreparedStatement select =
          connection.prepareStatement(dialect.readLocks(chunk.size()))) {
        LockRows.bindTwice(chunk, select);
        try (ResultSet rows = select.executeQuery()) {
          newest = Math.max(newest, LockRows.read(rows, locks));
        }
      }
    }
    return new Seen(locks, dialect.now(newest));
  }

  private static LockState settled(LockState state, Seen seen) {
    return StoredLock.settled(state, seen.now());
  }
}
