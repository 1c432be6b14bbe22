package io.pawl.sql.lock;

import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.transaction.Borrowed;
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

  /** Something to see. */
  public interface Look<T> {
    T at(LockViews locks) throws SQLException;
  }

  private final Dialect dialect;
  private final Connection connection;
  private final long now;

  private LockViews(Dialect dialect, Connection connection) throws SQLException {
    this.dialect = dialect;
    this.connection = connection;
    this.now = dialect.now(connection);
  }

  public static <T> T look(Database database, Look<T> look) {
    try (Borrowed reader = Borrowed.reader(database)) {
      return look.at(new LockViews(database.dialect(), reader.connection()));
    } catch (SQLException e) {
      throw database.explain(e);
    }
  }

  /**
   * Nothing where the name was never used.
   *
   * @throws io.pawl.error.StoreException where its rows cannot be read
   */
  public Optional<LockView> one(String lock) throws SQLException {
    StoredLock stored = read(List.of(lock)).get(lock);
    return stored == null ? Optional.empty() : Optional.of(settled(stored.state(now)).view(0));
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
    Map<String, StoredLock> locks = read(names);
    for (String name : names) {
      LockState state = locks.containsKey(name) ? locks.get(name).glance(now) : null;
      if (state != null && views.size() < limit && !settled(state).isIdle()) {
        views.add(state.view(0));
      }
    }
  }

  private Map<String, StoredLock> read(List<String> names) throws SQLException {
    Map<String, StoredLock> locks = new LinkedHashMap<>();
    int most = dialect.rowsPerStatement();
    for (int from = 0; from < names.size(); from += most) {
      List<String> chunk = names.subList(from, Math.min(names.size(), from + most));
      try (PreparedStatement select =
          connection.prepareStatement(dialect.readLocks(chunk.size()))) {
        LockRows.bindTwice(chunk, select);
        try (ResultSet rows = select.executeQuery()) {
          LockRows.read(rows, dialect, locks);
        }
      }
    }
    return locks;
  }

  private LockState settled(LockState state) {
    GrantRule.settle(state, now);
    return state;
  }
}
