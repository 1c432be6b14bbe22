package io.pawl.sql;

import io.pawl.servers.ServerProcess;
import io.pawl.servers.Version;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;

/** {@link SelectedContracts} on a version that is not the usual one. */
abstract class VersionContracts extends SelectedContracts {

  /** That of the class under way; the next one has its own. */
  private static @Nullable ServerProcess server;

  private final TestDatabase database;
  private final Version version;

  VersionContracts(TestDatabase database, String version) {
    this.database = database;
    this.version = Version.of(version);
  }

  @Override
  String baseUrl() {
    if (server == null) {
      server = database.startLazily(version);
    }
    return TestDatabase.urlOf(server);
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
      server = null;
    }
  }
}
