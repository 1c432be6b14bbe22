package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.ServerProcess;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The distribution as it is, against real servers with their own durability. */
class DatabasesTest {

  private static final String PASSWORD = MySqlServer.PASSWORD;

  enum Database {
    MYSQL,
    MARIADB,
    POSTGRESQL;

    ServerProcess start() {
      return this == POSTGRESQL
          ? PostgresServer.start()
          : MySqlServer.start(MySqlServer.Flavour.valueOf(name()));
    }
  }

  @TempDir Path directory;
  private Shell shell;

  @BeforeEach
  void setUp() {
    shell = new Shell(directory);
  }

  @AfterEach
  void tearDown() {
    shell.killAll();
  }

  private static String url(ServerProcess server) {
    return server instanceof PostgresServer postgres
        ? postgres.jdbcUrl()
        : ((MySqlServer) server).jdbcUrl();
  }

  private static String ofUser(String url, String password) {
    return url.replace("//", "//" + MySqlServer.USER + ":" + password + "@");
  }

  @ParameterizedTest
  @EnumSource
  void aDatabaseServesEveryCommandAndThePasswordShowsNowhere(Database database) {
    try (ServerProcess server = database.start()) {
      Map<String, String> store = Map.of("PAWL_STORE", ofUser(url(server), PASSWORD));
      tablesAreMadeByHand(store, url(server));
      aLockIsRunUnderListedShownAndReleased(store);
      aCounterIsTakenFromOncePerId(store);
      tokensAreRaisedAndIdleLocksForgotten(store);
      aWrongPasswordIsDeniedInOneLine(url(server));
    }
  }

  private void tablesAreMadeByHand(Map<String, String> store, String urlWithoutUser) {
    Started printed = shell.run("schema", "print", "--store", urlWithoutUser);
    assertThat(printed.output()).contains("CREATE TABLE IF NOT EXISTS pawl_lock");
    assertThat(printed.exit()).isZero();
    String forbidden = store.get("PAWL_STORE") + "?pawl.createTables=false";
    Started refused = shell.run(Map.of("PAWL_STORE", forbidden), "list");
    assertThat(refused.exit()).isEqualTo(78);
    assertThat(refused.errors()).contains(printed.output().strip()).doesNotContain(PASSWORD);
    for (int twice = 0; twice < 2; twice++) {
      Started applied = shell.run(Map.of("PAWL_STORE", forbidden), "schema", "apply");
      assertThat(applied.errors()).isEmpty();
      assertThat(applied.output()).contains("tables are there").doesNotContain(PASSWORD);
    }
    assertThat(shell.run(Map.of("PAWL_STORE", forbidden), "list").exit()).isZero();
  }

  private void tokensAreRaisedAndIdleLocksForgotten(Map<String, String> store) {
    assertThat(shell.run(store, "tokens", "raise", "--by", "1000000").output())
        .startsWith("raised the tokens of ");
    assertThat(shell.run(store, "run", "restored", "-c", "echo $PAWL_TOKEN").output())
        .satisfies(token -> assertThat(Long.parseLong(token.strip())).isGreaterThan(1_000_000));
    Started purged = shell.run(store, "purge", "--idle", "1h", "--json");
    assertThat(purged.output()).isEqualTo("{\"event\":\"purged\",\"locks\":0}\n");
    assertThat(purged.exit()).isZero();
  }

  private void aLockIsRunUnderListedShownAndReleased(Map<String, String> store) {
    Started job = shell.start(store, "run", "nightly", "-c", "echo ready; exec sleep 60");
    job.awaitOutput("ready");
    Stream.concat(Stream.of(job.process().toHandle()), job.process().descendants())
        .map(process -> Shell.commandLine(process.pid()))
        .forEach(line -> assertThat(line).doesNotContain(PASSWORD));
    assertThat(shell.run(store, "run", "-n", "nightly", "--", "true").exit()).isEqualTo(75);
    assertThat(shell.run(store, "list").output()).contains("nightly ");
    assertThat(shell.run(store, "show", "nightly").output())
        .contains("held by")
        .contains("token 1");

    assertThat(shell.run(store, "release", "nightly", "--token", "1").output())
        .isEqualTo("released lock 'nightly', token 1\n");
    assertThat(shell.run(store, "run", "-n", "nightly", "-c", "echo $PAWL_TOKEN").output())
        .satisfies(token -> assertThat(Long.parseLong(token.strip())).isGreaterThan(1));
    Started doctor = shell.run(store, "doctor");
    assertThat(doctor.output())
        .contains("opens")
        .doesNotContain("problem ")
        .doesNotContain(PASSWORD);
    assertThat(doctor.exit()).isZero();
    job.process().destroy();
    job.exit();
  }

  private void aCounterIsTakenFromOncePerId(Map<String, String> store) {
    assertThat(shell.run(store, "counter", "set", "sku", "5").output()).isEqualTo("5\n");
    for (int twice = 0; twice < 2; twice++) {
      Started take = shell.run(store, "counter", "take", "sku", "3", "--id", "order-7");
      assertThat(take.output()).isEqualTo("2\n");
      assertThat(take.exit()).isZero();
    }
    assertThat(shell.run(store, "counter", "take", "sku", "3").exit()).isEqualTo(75);
    Started ofALock = shell.run(store, "counter", "add", "nightly", "1");
    assertThat(ofALock.exit()).as(ofALock.errors()).isEqualTo(78);
  }

  private void aWrongPasswordIsDeniedInOneLine(String url) {
    Map<String, String> store = Map.of("PAWL_STORE", ofUser(url, "canary"));
    Started denied = shell.run(store, "run", "nightly", "--", "true");
    assertThat(denied.exit()).isEqualTo(77);
    assertThat(denied.errors()).startsWith("pawl: ").hasLineCount(1).doesNotContain("canary");
  }
}
