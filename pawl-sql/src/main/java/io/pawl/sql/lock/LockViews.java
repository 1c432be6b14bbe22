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
    for (List<String> page = busyAfter(last); !page.isEmpty(); page = busyAfter(last)) {
      Map<String, StoredLock> locks = read(page);
      for (String name : page) {
        LockState state = locks.containsKey(name) ? locks.get(name).glance(now) : null;
        if (state != null && views.size() < limit && !settled(state).isIdle()) {
          views.add(state.view(0));
        }
      }
      if (views.size() == limit || page.size() < PAGE) {
        break;
      }
      last = page.get(page.size() - 1);
    }
    return views;
  }

  private List<String> busyAfter(String last) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(dialect.readBusyNames())) {
      select.setString(1, last);
      select.setInt(2, PAGE);
      List<String> names = new ArrayList<>();
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          names.add(rows.getString(1));
        }
      }
      return names;
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
