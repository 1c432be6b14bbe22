package io.pawl.bench.rival;

import java.sql.Connection;
import java.sql.SQLException;

/** One guarded UPDATE each way, in autocommit: two trips and two commits. */
public final class GuardedUpdate extends PolledRows {

  public static final String NAME = "guarded UPDATE pair";

  private final SqlFlavour flavour;
  private final String take;

  public GuardedUpdate(SqlFlavour flavour) {
    super(NAME, true);
    this.flavour = flavour;
    this.take =
        "UPDATE guarded_lock SET owner = ?, expires = "
            + flavour.inThirtySeconds
            + " WHERE name = ? AND (owner IS NULL OR expires < now())";
  }

  @Override
  void prepare(Connection connection, String lock) throws SQLException {
    SqlPool.update(
        connection, flavour.insertOnce("guarded_lock (name, owner) VALUES (?, NULL)"), lock);
  }

  @Override
  boolean take(Connection connection, String lock, String owner) throws SQLException {
    return SqlPool.update(connection, take, owner, lock) == 1;
  }

  @Override
  boolean giveBack(Connection connection, String lock, String owner) throws SQLException {
    return SqlPool.update(
            connection,
            "UPDATE guarded_lock SET owner = NULL WHERE name = ? AND owner = ?",
            lock,
            owner)
        == 1;
  }
}
