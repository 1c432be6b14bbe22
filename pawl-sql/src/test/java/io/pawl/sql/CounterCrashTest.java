package io.pawl.sql;

import io.pawl.tck.CounterCrashContract;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.junit.jupiter.api.Nested;

class CounterCrashTest {

  private abstract static class OnDatabase extends CounterCrashContract {

    private final TestDatabase database;

    OnDatabase(TestDatabase database) {
      this.database = database;
    }

    @Override
    protected String url() {
      return database.url();
    }

    @Override
    protected long storedValue(String counter) throws SQLException {
      try (Connection connection = connect();
          PreparedStatement select =
              connection.prepareStatement("SELECT value FROM pawl_counter WHERE name = ?")) {
        select.setString(1, counter);
        try (ResultSet row = select.executeQuery()) {
          row.next();
          return row.getLong(1);
        }
      }
    }

    private Connection connect() throws SQLException {
      return database == TestDatabase.SQLITE
          ? DriverManager.getConnection("jdbc:" + database.url())
          : database.connect();
    }
  }

  @Nested
  class Sqlite extends OnDatabase {
    Sqlite() {
      super(TestDatabase.SQLITE);
    }
  }

  @Nested
  class MySql extends OnDatabase {
    MySql() {
      super(TestDatabase.MYSQL);
    }
  }

  @Nested
  class Postgres extends OnDatabase {
    Postgres() {
      super(TestDatabase.POSTGRES);
    }
  }
}
