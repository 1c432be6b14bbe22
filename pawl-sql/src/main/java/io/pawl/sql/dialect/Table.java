package io.pawl.sql.dialect;

import io.pawl.sql.lock.Row;
import java.util.List;
import java.util.stream.Stream;

/**
 * A table as statements name it.
 *
 * @param key the columns of its primary key
 * @param others the other columns, in the order of their parameters
 */
public record Table(String name, List<String> key, List<String> others) {

  /** All columns, the key first, with commas between. */
  public String columns() {
    return String.join(", ", Stream.concat(key.stream(), others.stream()).toList());
  }

  /** {@code n} rows of parameters, for VALUES. */
  String values(int n) {
    String row = "(" + Row.repeated("?", key.size() + others.size()) + ")";
    return Row.repeated(row, n);
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
}
