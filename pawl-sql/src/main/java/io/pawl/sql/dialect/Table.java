package io.pawl.sql.dialect;

import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/**
 * A table as statements name it.
 *
 * @param key the columns of its primary key
 * @param others the other columns, in the order of their parameters
 */
public record Table(String name, List<String> key, List<String> others) {

  public static final Table LOCK =
      new Table(
          "pawl_lock",
          List.of("name"),
          List.of("kind", "last_token", "holders", "queued", "withdrawn", "used"));

  public static final Table WAITER =
      new Table("pawl_waiter", List.of("position"), List.of("lock_name", "claims"));

  /** The same without the key, which the database gives to a new row. */
  public static final Table NEW_WAITER = new Table(WAITER.name, List.of(), WAITER.others);

  /** All columns, the key first, with commas between. */
  public String columns() {
    return String.join(", ", Stream.concat(key.stream(), others.stream()).toList());
  }

  int columnCount() {
    return key.size() + others.size();
  }

  /** {@code n} rows of parameters, for VALUES. */
  String values(int n) {
    String row = "(" + repeated("?", columnCount()) + ")";
    return repeated(row, n);
  }

  public String insert(int n) {
    return "INSERT INTO " + name + " (" + columns() + ") VALUES " + values(n);
  }

  /** What makes an INSERT replace a row that exists, on PostgreSQL and SQLite. */
  String onConflictReplace() {
    String set =
        String.join(", ", others.stream().map(column -> column + " = excluded." + column).toList());
    return " ON CONFLICT (" + String.join(", ", key) + ") DO UPDATE SET " + set;
  }

  /** {@code what} so often, with commas between. */
  public static String repeated(String what, int n) {
    return String.join(", ", Collections.nCopies(n, what));
  }
}
