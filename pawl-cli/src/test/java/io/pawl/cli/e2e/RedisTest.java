package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import io.pawl.servers.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The distribution as it is, on Redis, and with Redis as a gate before SQLite. */
class RedisTest {

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

  @Test
  void locksAndCountersAreServedByRedisAndThroughAGate() {
    try (RedisServer server = RedisServer.start()) {
      String gate = "gate:" + server.url() + "|sqlite:" + directory.resolve("truth.db");
      for (String url : List.of(server.url(), gate)) {
        assertThat(run("run", url, "x", "-c", "echo in").output()).isEqualTo("in\n");
        assertThat(run("counter", url, "add", "tickets", "3").output()).isEqualTo("3\n");
        assertThat(run("list", url).output()).isEqualTo("No lock is held or waited for.\n");
        assertThat(run("doctor", url).output()).contains("opens").doesNotContain("problem ");
      }
    }
  }

  /** The job comes once a day; whoever says how long it may wait means the server too. */
  @Test
  void aServerThatIsBeingStartedIsWaitedForAsABusyLock() {
    try (RedisServer server = RedisServer.start()) {
      server.kill();
      Started run =
          shell.start("run", "--wait", "1m", "x", "-c", "echo in", "--store", server.url());
      awaitDialled(server);
      server.restart();

      assertThat(run.exit()).as(run.errors()).isZero();
      assertThat(run.output()).isEqualTo("in\n");
      assertThat(run.errors()).isEmpty();
    }
  }

  /** Whoever dials a port that nobody else has finds nobody there. */
  private static void awaitDialled(RedisServer server) {
    try (ServerSocket port =
        new ServerSocket(server.port(), 1, InetAddress.getByName(server.host()))) {
      port.setSoTimeout((int) Shell.LONG.toMillis());
      port.accept().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Started run(String command, String url, String... more) {
    String[] args = new String[more.length + 3];
    args[0] = command;
    args[1] = "--store";
    args[2] = url;
    System.arraycopy(more, 0, args, 3, more.length);
    Started run = shell.run(args);
    assertThat(run.errors()).isEmpty();
    assertThat(run.exit()).isZero();
    return run;
  }
}
