package io.pawl.sql.lock;

import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Table;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The statement that carries out {@link Shortcut}s: one UPDATE of all their rows, each only if its
 * last token is as it must be and nobody waits. All holders are kept equally long. It is the same
 * text for any number of rows up to the next power of two, so that few of them stay prepared: what
 * is left over is filled with rows named twice, and with cases of NULL, which nothing equals.
 *
 * @param guards how many rows it has room for
 * @param takes how many of them may get a holder
 */
record GuardedUpdate(int guards, int takes) {

  /** Each row is compared with up to as many names: beyond this, reading is cheaper. */
  private static final int MAX_ROWS = 128;

  /** The smallest that {@code shortcuts} fit into. */
  static GuardedUpdate of(Collection<Shortcut> shortcuts) {
    long takes = shortcuts.stream().filter(Shortcut::leavesAHolder).count();
    return new GuardedUpdate(roomFor(shortcuts.size()), roomFor((int) takes));
  }

  static boolean fits(Collection<Shortcut> shortcuts) {
    long lengths =
        shortcuts.stream()
            .filter(Shortcut::leavesAHolder)
            .mapToLong(Shortcut::keptMillis)
            .distinct()
            .count();
    return shortcuts.size() <= MAX_ROWS && lengths <= 1;
  }

  private static int roomFor(int n) {
    return n == 0 ? 0 : Integer.highestOneBit(2 * n - 1);
  }

  private boolean isLone() {
    return guards == 1;
  }

  String sql(Dialect dialect) {
    StringBuilder sql = new StringBuilder(dialect.locksBeforeUpdate(guards));
    sql.append(dialect.updateByName()).append(" SET used = ");
    sql.append(dialect.utcNow()).append(", ");
    if (takes == 0) {
      sql.append("holders = '[]'");
    } else if (isLone()) {
      sql.append("last_token = ?, holders = ").append(dialect.textWithTimes("?"));
    } else {
      String cases = "CASE name" + " WHEN ? THEN ?".repeat(takes);
      sql.append("last_token = ").append(cases).append(" ELSE last_token END, holders = coalesce(");
      sql.append(dialect.textWithTimes(cases + " END")).append(", '[]')");
    }
    sql.append(" WHERE name IN (").append(Table.repeated("?", guards)).append(") AND ");
    sql.append(
        isLone()
            ? "last_token = ?"
            : "(name, last_token) IN (" + Table.repeated("(?, ?)", guards) + ")");
    return sql.append(" AND kind = 'lock' AND queued = 0 AND withdrawn = '[]'").toString();
  }

  /** One use of the statement. */
  private final class Binding {

    private final PreparedStatement update;
    private int parameter = 1;

    Binding(PreparedStatement update) {
      this.update = update;
    }

    void add(@Nullable String text) throws SQLException {
      update.setString(parameter++, text);
    }

    void add(long number) throws SQLException {
      update.setLong(parameter++, number);
    }

    void addCase(@Nullable String lock) throws SQLException {
      if (!isLone()) {
        add(lock);
      }
    }
  }

  void bind(PreparedStatement update, Collection<Shortcut> shortcuts, Dialect dialect)
      throws SQLException {
    List<Shortcut> all = List.copyOf(shortcuts);
    Binding binding = new Binding(update);
    if (!dialect.locksBeforeUpdate(guards).isEmpty()) {
      bindNames(binding, all);
    }
    if (takes > 0) {
      bindTakes(binding, all.stream().filter(Shortcut::leavesAHolder).toList());
    }
    bindNames(binding, all);
    for (int i = 0; i < guards; i++) {
      binding.addCase(at(all, i).lock());
      binding.add(at(all, i).lastToken());
    }
  }

  private void bindNames(Binding binding, List<Shortcut> all) throws SQLException {
    for (int i = 0; i < guards; i++) {
      binding.add(at(all, i).lock());
    }
  }

  private void bindTakes(Binding binding, List<Shortcut> taken) throws SQLException {
    for (int i = 0; i < takes; i++) {
      boolean used = i < taken.size();
      binding.addCase(used ? taken.get(i).lock() : null);
      binding.add(used ? taken.get(i).after().lastToken() : 0);
    }
    binding.add(ClaimsText.BEFORE_SINCE);
    binding.add(0);
    binding.add(ClaimsText.BEFORE_UNTIL);
    binding.add(taken.get(0).keptMillis());
    for (int i = 0; i < takes; i++) {
      boolean used = i < taken.size();
      binding.addCase(used ? taken.get(i).lock() : null);
      binding.add(used ? taken.get(i).holderAfterTimes() : "");
    }
  }

  private static Shortcut at(List<Shortcut> all, int i) {
    return all.get(Math.min(i, all.size() - 1));
  }
}
