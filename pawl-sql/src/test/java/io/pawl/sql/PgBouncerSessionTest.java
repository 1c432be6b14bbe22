package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import io.pawl.servers.PgBouncer;
import io.pawl.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What Pawl leaves in the sessions that it shares with others behind PgBouncer: nothing. */
class PgBouncerSessionTest {

  @Test
  void transactionsChangeNothingOfASessionThatAnotherClientGetsNext() throws Exception {
    PostgresServer server = (PostgresServer) TestDatabase.POSTGRES.server();
    try (PgBouncer bouncer = PgBouncer.before(server, 1)) {
      String url = TestDatabase.withUser(bouncer.jdbcUrl());
      Map<String, String> before = settings(url);
      try (Pawl pawl = Pawl.connect(url)) {
        try (Lease lease = pawl.lock("pooled").acquire()) {
          assertThat(pawl.lock("pooled").tryAcquire()).isEmpty();
        }
        pawl.counter("pooled-stock").update(Update.set(1), OperationId.of("stock"));

        assertThat(settings(url)).isEqualTo(before);
      }
    }
  }

  private static Map<String, String> settings(String url) throws SQLException {
    Map<String, String> settings = new TreeMap<>();
    try (Connection another = DriverManager.getConnection(url);
        Statement statement = another.createStatement();
        ResultSet all = statement.executeQuery("SELECT name, setting FROM pg_settings")) {
      while (all.next()) {
        settings.put(all.getString(1), all.getString(2));
      }
    }
    assertThat(settings).containsKeys("statement_timeout", "enable_seqscan");
    return settings;
  }
}
