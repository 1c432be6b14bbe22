package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Pawl;
import io.pawl.servers.MySqlServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** By what name a server's administrator finds Pawl's sessions. */
class SessionNamesTest {

  @ParameterizedTest
  @EnumSource
  void sessionsAreCalledPawlUnlessTheUrlSaysOtherwise(MySqlServer.Flavour flavour)
      throws Exception {
    try (MySqlServer server = MySqlServer.start(flavour, "--performance-schema=ON");
        Connection observer =
            DriverManager.getConnection(server.jdbcUrl(), MySqlServer.USER, MySqlServer.PASSWORD)) {
      String names =
          "SELECT ATTR_VALUE FROM performance_schema.session_connect_attrs"
              + " WHERE ATTR_NAME = 'program_name'";
      String url = TestDatabase.withUser(server.jdbcUrl());
      assertThat(namesWhileHeld(url, observer, names)).containsOnly("pawl");
      assertThat(
              namesWhileHeld(url + "&connectionAttributes=program_name:billing", observer, names))
          .containsOnly("billing");
    }
  }

  @Test
  void postgresSessionsAreCalledPawlUnlessTheUrlSaysOtherwise() throws Exception {
    try (Connection observer = TestDatabase.POSTGRES.connect()) {
      String names = "SELECT application_name FROM pg_stat_activity WHERE application_name = ";
      String url = TestDatabase.POSTGRES.url();
      assertThat(namesWhileHeld(url, observer, names + "'pawl'")).isNotEmpty();
      assertThat(namesWhileHeld(url + "&ApplicationName=billing", observer, names + "'billing'"))
          .isNotEmpty();
    }
  }

  private static List<String> namesWhileHeld(String url, Connection observer, String query)
      throws Exception {
    try (Pawl pawl = Pawl.connect(url)) {
      pawl.lock("named").acquire().close();
      return names(observer, query);
    }
  }

  private static List<String> names(Connection observer, String query) throws SQLException {
    try (Statement statement = observer.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<String> names = new ArrayList<>();
      while (rows.next()) {
        names.add(rows.getString(1));
      }
      return names;
    }
  }
}
