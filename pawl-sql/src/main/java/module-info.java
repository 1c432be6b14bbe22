/** Locks and counters in a SQL database: SQLite, MySQL, MariaDB or PostgreSQL. */
module io.pawl.sql {
  requires transitive io.pawl;
  requires transitive java.sql;
  requires org.slf4j;
  requires tools.jackson.core;
  requires static org.jspecify;
  requires static org.postgresql.jdbc;
  requires static org.xerial.sqlitejdbc;

  exports io.pawl.sql;

  provides io.pawl.spi.StoreProvider with
      io.pawl.sql.JdbcProvider,
      io.pawl.sql.SqliteProvider;
}
