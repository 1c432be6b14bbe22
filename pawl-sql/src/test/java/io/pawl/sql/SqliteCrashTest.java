package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process killed in the middle of its commits leaves a sound file, and tokens that grow on. */
class SqliteCrashTest {

  private static final LockOptions SHORT = LockOptions.defaults().lease(Duration.ofMillis(500));

  @TempDir Path folder;

  @Test
  void killedInTheMiddleOfWritesTheFileIsSoundAndTokensGrowOn() throws Exception {
    Path file = folder.resolve("locks.db");
    long largest = 0;
    for (int round = 0; round < 5; round++) {
      long seen = killAfter(30 * (round + 1), file);
      assertThat(seen).isGreaterThan(largest);
      assertThat(SqliteFileTest.ask(file, "PRAGMA integrity_check")).isEqualTo("ok");
      try (Pawl pawl = Pawl.connect("sqlite:" + file);
          Lease lease = pawl.lock("x", SHORT).acquire()) {
        assertThat(lease.token()).isGreaterThan(seen);
        largest = lease.token();
      }
    }
  }

  /** Runs {@link Acquirer} until it has told {@code grants} tokens, kills it, returns the last. */
  private static long killAfter(int grants, Path file) throws IOException, InterruptedException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    Process acquirer =
        new ProcessBuilder(
                java,
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Acquirer.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader tokens =
        new BufferedReader(
            new InputStreamReader(acquirer.getInputStream(), StandardCharsets.UTF_8))) {
      long last = 0;
      for (int i = 0; i < grants; i++) {
        last = Long.parseLong(tokens.readLine());
      }
      acquirer.toHandle().destroyForcibly();
      for (String line = tokens.readLine(); line != null; line = tokens.readLine()) {
        last = Long.parseLong(line);
      }
      acquirer.waitFor();
      return last;
    }
  }

  /** Takes and releases the lock for ever, and tells each token once it has it. */
  static final class Acquirer {

    private Acquirer() {}

    public static void main(String[] args) throws InterruptedException {
      Pawl pawl = Pawl.connect("sqlite:" + args[0]);
      while (true) {
        try (Lease lease = pawl.lock("x", SHORT).acquire()) {
          System.out.println(lease.token());
        } catch (LeaseLostException e) {
          // a disk that takes half a second for one commit; the next token is as good
        }
      }
    }
  }
}
