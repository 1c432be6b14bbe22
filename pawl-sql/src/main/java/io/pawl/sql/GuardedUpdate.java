package io.pawl.sql;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The statement that carries out {@link Shortcut}s: one UPDATE of all their rows, each only if its
 * last token is as it must be and nobody waits. It is the same text for any number of rows up to
 * the next power of two, so that few of them stay prepared: what is left over is filled with rows
 * named twice, and with cases of NULL, which nothing equals.
 *
 * @param guards how many rows it has room for
 * @param takes how many of them may get a holder
 */
record GuardedUpdate(int guards, int takes) {

  /** Each row is compared with up to as many names: beyond this, reading is cheaper. */
  static final int MAX_ROWS = 128;

  private static final String[] NO_TEXT = {"", "", ""};

  /** The smallest that {@code shortcuts} fit into. */
  static GuardedUpdate of(Collection<Shortcut> shortcuts) {
    long takes = shortcuts.stream().filter(Shortcut::leavesAHolder).count();
    return new GuardedUpdate(roomFor(shortcuts.size()), roomFor((int) takes));
  }

  private static int roomFor(int n) {
    return n == 0 ? 0 : Integer.highestOneBit(2 * n - 1);
  }

  private boolean isLone() {
    return guards == 1;
  }

  String sql(Dialect dialect) {
    StringBuilder sql = new StringBuilder(dialect.updateByName()).append(" SET ");
    if (takes > 0) {
      sql.append("last_token = ").append(byName("?", "last_token")).append(", ");
    }
    sql.append("holders = ");
    sql.append(takes > 0 ? byName(dialect.textWithTimes(), "'[]'") : "'[]'");
    sql.append(" WHERE name IN (").append(Row.repeated("?", guards)).append(") AND ");
    sql.append(
        isLone()
            ? "last_token = ?"
            : "(name, last_token) IN (" + Row.repeated("(?, ?)", guards) + ")");
    return sql.append(" AND kind = 'lock' AND waiters = '[]' AND withdrawn = '[]'").toString();
  }

  private String byName(String value, String otherwise) {
    return isLone()
        ? value
        : "CASE name" + (" WHEN ? THEN " + value).repeat(takes) + " ELSE " + otherwise + " END";
  }

  void bind(PreparedStatement update, Collection<Shortcut> shortcuts) throws SQLException {
    List<Shortcut> all = List.copyOf(shortcuts);
    List<Shortcut> taken = all.stream().filter(Shortcut::leavesAHolder).toList();
    int parameter = 1;
    for (int i = 0; i < takes; i++) {
      boolean used = i < taken.size();
      parameter = bindCase(update, parameter, used ? taken.get(i).lock() : null);
      update.setLong(parameter++, used ? taken.get(i).after().lastToken() : 0);
    }
    for (int i = 0; i < takes; i++) {
      boolean used = i < taken.size();
      parameter = bindCase(update, parameter, used ? taken.get(i).lock() : null);
      String[] text = used ? taken.get(i).aroundTimes() : NO_TEXT;
      update.setString(parameter++, text[0]);
      update.setLong(parameter++, 0);
      update.setString(parameter++, text[1]);
      update.setLong(parameter++, used ? taken.get(i).leaseMillis() : 0);
      update.setString(parameter++, text[2]);
    }
    for (int i = 0; i < guards; i++) {
      update.setString(parameter++, at(all, i).lock());
    }
    for (int i = 0; i < guards; i++) {
      parameter = isLone() ? parameter : bindCase(update, parameter, at(all, i).lock());
      update.setLong(parameter++, at(all, i).lastToken());
    }
  }

  private static Shortcut at(List<Shortcut> all, int i) {
    return all.get(Math.min(i, all.size() - 1));
  }

  private int bindCase(PreparedStatement update, int parameter, @Nullable String lock)
      throws SQLException {
    if (isLone()) {
      return parameter;
    }
    update.setString(parameter, lock);
    return parameter + 1;
  }
}
