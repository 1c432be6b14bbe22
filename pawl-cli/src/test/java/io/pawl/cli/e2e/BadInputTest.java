package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each is refused with one clear line, before anything has changed. */
class BadInputTest {

  @TempDir Path directory;

  private void refused(int exit, String message, String... args) {
    refused(Map.of(), exit, message, args);
  }

  private void refused(Map<String, String> variables, int exit, String message, String... args) {
    Started run = new Shell(directory).run(variables, args);
    assertThat(run.errors()).startsWith("pawl: ").contains(message).hasLineCount(1);
    assertThat(run.exit()).isEqualTo(exit);
    assertThat(run.output()).isEmpty();
  }

  @Test
  void namesThatCannotBe() {
    refused(64, "empty", "run", "", "--", "true");
    refused(64, "512 bytes", "run", "é".repeat(257), "--", "true");
    refused(64, "control character U+000A", "run", "a\nb", "--", "true");
    assertThat(directory.resolve("locks.db")).doesNotExist();
  }

  @Test
  void leasesThatCannotBe() {
    refused(64, "100ms", "run", "--lease", "99ms", "x", "--", "true");
    refused(64, "--lease", "run", "--lease", "-5s", "x", "--", "true");
    refused(64, "negative", "run", "--lease", "PT-5S", "x", "--", "true");
    refused(64, "7d", "run", "--lease", "8d", "x", "--", "true");
    refused(64, "7d", "run", "--min-hold", "8d", "x", "--", "true");
    refused(64, "100 years", "run", "--lease", "99999999999999999d", "x", "--", "true");
    refused(64, "half of the lease", "run", "--lease=2s", "--kill-after=1500ms", "x", "--", "true");
    assertThat(directory.resolve("locks.db")).doesNotExist();
  }

  @Test
  void commandLinesThatCannotBe() {
    refused(64, "unknown", "frobnicate");
    refused(64, "missing");
    refused(64, "command is missing", "run", "x");
    refused(64, "after --", "run", "x", "true");
    refused(64, "exclude each other", "run", "-n", "--wait", "1s", "x", "--", "true");
    refused(64, "term, kill, warn", "run", "--on-lost", "shrug", "x", "--", "true");
    refused(64, "--token N", "release", "x");
    refused(64, "exclude each", "run", "--shared", "--permits", "1/2", "x", "--", "true");
    refused(64, "asks for 3; write 1 to 2", "run", "--permits", "3/2", "x", "--", "true");
    refused(64, "asks for 0; write 1 to 2", "run", "--permits", "0/2", "x", "--", "true");
    refused(64, "at least 1 permit", "run", "--permits", "0/0", "x", "--", "true");
    refused(64, "'2' is not K/N", "run", "--permits", "2", "x", "--", "true");
    refused(64, "is not K/N", "run", "--permits", "1/9999999999", "x", "--", "true");
  }

  @Test
  void storesThatCannotBe() throws IOException {
    refused(Map.of("PAWL_STORE", "gopher:x"), 78, "no module here opens", "run", "x", "--", "true");
    refused(Map.of("PAWL_STORE", "memory:x"), 78, "ends with each", "run", "x", "--", "true");
    refused(Map.of("PAWL_STORE", "locks"), 78, "no scheme", "run", "x", "--", "true");
    refused(78, "does not exist", "list", "--store", "sqlite:" + directory.resolve("no/such/file"));
    Path foreign = directory.resolve("foreign");
    Files.writeString(foreign, "this is not a database, it is a text of some length");
    refused(78, "not a SQLite database", "run", "--store", "sqlite:" + foreign, "x", "--", "true");
    assertThat(foreign).content().startsWith("this is not");
  }

  /** Two files whose names differ in bytes that are no characters would be one. */
  @Test
  void storesWhoseNamesAreNotUtf8() {
    refusedIn("exec \"$0\" list --store \"sqlite:$PWD/$(printf 'caf\\351')\"", "store URL");
    refusedIn("PAWL_STORE=sqlite:$(printf '/caf\\351') exec \"$0\" list", "(from PAWL_STORE)");
  }

  /** The default store in its place would exclude nobody who uses that file's. */
  @Test
  void aConfigurationInAWorkingDirectoryWhoseNameIsNotUtf8IsNotPassedOver() {
    refusedIn(
        """
        mkdir "$(printf 'caf\\351')" && cd "$(printf 'caf\\351')" &&
        echo "store = $PAWL_STORE" >pawl.properties && unset PAWL_STORE && exec "$0" list
        """,
        "pawl.properties: cannot be looked for");
  }

  private void refusedIn(String script, String message) {
    Started run =
        new Shell(directory)
            .launch(new ProcessBuilder("sh", "-c", script, Shell.LAUNCHER), Map.of());
    assertThat(run.exit()).isEqualTo(78);
    assertThat(run.errors()).startsWith("pawl: ").contains(message, "UTF-8").hasLineCount(1);
    assertThat(run.output()).isEmpty();
  }

  /** The driver says it in three. */
  @Test
  void aServerThatIsAwayIsOneLine() {
    refused(Map.of("PAWL_STORE", "jdbc:mysql://u@127.0.0.1:1/d"), 69, "127.0.0.1:1", "list");
  }

  @Test
  void schemasThatCannotBe() {
    refused(64, "neither print nor apply", "schema", "drop");
    refused(78, "has no tables", "schema", "print", "--store", "redis://localhost");
    refused(78, "has no tables", "schema", "apply", "--store", "redis://localhost");
    refused(78, "no module here opens 'gopher:'", "schema", "print", "--store", "gopher:x");
    refused(
        64, "a password on the command line", "schema", "apply", "--store=jdbc:mysql://a:b@c/d");
    assertThat(directory.resolve("locks.db")).doesNotExist();
  }

  @Test
  void upkeepThatCannotBe() {
    refused(64, "--idle is missing", "purge");
    refused(64, "shorter than 1h", "purge", "--idle", "59m");
    refused(64, "'lower' is unknown", "tokens", "lower");
    refused(64, "not a number between", "tokens", "raise", "--by", "0");
    refused(64, "not a number between", "tokens", "raise", "--by", "9007199254740992");
    refused(64, "prune needs --older", "counter", "prune", "sku");
    refused(64, "write: pawl counter list", "counter", "list", "sku");
    refused(64, "--limit does not go with list", "counter", "list", "--limit", "3");
    refused(64, "--older goes with prune only", "counter", "get", "sku", "--older", "1d");
    assertThat(directory.resolve("locks.db")).doesNotExist();
  }

  @Test
  void commandsThatDoNotExistCostNoLock() throws IOException {
    refused(127, "not found on the PATH", "run", "x", "--", "no-such-command");
    refused(127, "not found", "run", "x", "--", "/no/such/command");
    Path plain = Files.writeString(directory.resolve("plain"), "echo never\n");
    refused(126, "may not be executed", "run", "x", "--", plain.toString());
    refused(126, "may not be executed", "run", "x", "--", directory.toString());
    assertThat(directory.resolve("locks.db")).doesNotExist();
  }

  @Test
  void aPasswordAppearsNowhere() {
    assertHidden(78, "nope://user:canary@host/?password=canary");
    assertHidden(78, "redis://user:canary@host/?password=canary");
    assertHidden(69, "redis://user:canary@127.0.0.1:1");
    assertHidden(69, "jdbc:mysql://user:canary@127.0.0.1:1/d");
    assertHidden(69, "jdbc:mariadb://user:canary@127.0.0.1:1/d");
    assertHidden(69, "jdbc:postgresql://127.0.0.1:1/d?user=u&password=canary");
  }

  private void assertHidden(int exit, String url) {
    Map<String, String> variables = Map.of("PAWL_STORE", url);
    String[][] commands = {
      {"run", "x", "--", "true"}, {"run", "--json", "x", "--", "true"}, {"list"}, {"doctor"}
    };
    Shell shell = new Shell(directory);
    for (Started run : Stream.of(commands).map(args -> shell.start(variables, args)).toList()) {
      assertThat(run.exit()).isEqualTo(exit);
      assertThat(run.output() + run.errors()).isNotEmpty().doesNotContain("canary");
    }
    for (String option : new String[] {"--store=", "--stoer="}) {
      Started run = new Shell(directory).run("run", option + url, "x", "--", "true");
      assertThat(run.exit()).isEqualTo(64);
      assertThat(run.output() + run.errors()).doesNotContain("canary");
    }
  }

  @Test
  void theFirstConfigurationThatSpeaksWins() throws IOException {
    Map<String, String> none = Map.of("PAWL_STORE", "");
    refusedBy(
        "the default",
        Map.of("PAWL_STORE", "", "XDG_STATE_HOME", directory.resolve("s").toString()),
        0);
    Path user = directory.resolve("config/pawl/pawl.properties");
    Files.createDirectories(user.getParent());
    Files.writeString(user, "store = b:user\n");
    refusedBy("config/pawl/pawl.properties", none, 78);
    Files.writeString(directory.resolve("pawl.properties"), "store = b:here\n");
    refusedBy("(from pawl.properties)", none, 78);
    refusedBy("PAWL_STORE", Map.of("PAWL_STORE", "b:variable"), 78);
    refusedBy("--store", none, 78, "--store", "b:option");
    Files.writeString(directory.resolve("pawl.properties"), "sotre = b:here\n");
    refusedBy("'sotre' is unknown", none, 78);
  }

  private void refusedBy(String origin, Map<String, String> variables, int exit, String... more) {
    String[] args = new String[more.length + 1];
    args[0] = "doctor";
    System.arraycopy(more, 0, args, 1, more.length);
    Started run = new Shell(directory).run(variables, args);
    assertThat(run.output()).contains(origin);
    assertThat(run.exit()).isEqualTo(exit);
  }
}
