package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import java.util.Map;
import java.util.stream.Stream;

/** What every command has to do on a store with locks and without counters. */
final class LockCommands {

  private final Shell shell;
  private final Map<String, String> store;
  private final String password;

  /**
   * @param url with the password, which nothing may show
   */
  LockCommands(Shell shell, String url, String password) {
    this.shell = shell;
    this.store = Map.of("PAWL_STORE", url);
    this.password = password;
  }

  void check() {
    aLockIsRunUnderListedShownAndReleased();
    theCommandsExitCodeIsPassedOn();
    waitersAndReadersAndPermitsAreServed();
    countersTablesAndUpkeepAreRefusedInOneLine();
  }

  Started run(String... args) {
    Started run = shell.run(store, args);
    assertThat(run.output() + run.errors()).doesNotContain(password);
    return run;
  }

  private void refused(int exit, String why, String... args) {
    Started run = run(args);
    assertThat(run.errors()).startsWith("pawl: ").contains(why).hasLineCount(1);
    assertThat(run.exit()).isEqualTo(exit);
  }

  private void aLockIsRunUnderListedShownAndReleased() {
    assertThat(run("list").output()).isEqualTo("No lock is held or waited for.\n");
    Started job =
        shell.start(
            store, "run", "--holder", "night job", "nightly", "-c", "echo $PAWL_TOKEN.; sleep 60");
    String token = job.awaitOutput(".").output().replace(".\n", "");
    Stream.concat(Stream.of(job.process().toHandle()), job.process().descendants())
        .map(process -> Shell.commandLine(process.pid()))
        .forEach(line -> assertThat(line).doesNotContain(password));
    refused(75, "busy", "run", "-n", "nightly", "--", "true");
    assertThat(run("run", "--skip-if-busy", "nightly", "--", "false").exit()).isZero();
    assertThat(run("list").output())
        .contains("nightly  exclusive  " + token + " ")
        .contains("night job (");
    assertThat(run("show", "nightly").output()).contains("held by").contains("token " + token);
    assertThat(run("show", "nightly", "--json").output())
        .startsWith("{\"lock\":\"nightly\",\"kind\":\"lock\",\"state\":\"held\",")
        .contains("\"token\":" + token + ",");

    refused(76, "nothing was released", "release", "nightly", "--token", "1");
    assertThat(run("release", "nightly", "--token", token).output())
        .isEqualTo("released lock 'nightly', token " + token + "\n");
    assertThat(run("run", "-n", "nightly", "-c", "echo $PAWL_TOKEN").output())
        .satisfies(
            later -> assertThat(Long.parseLong(later.strip())).isGreaterThan(Long.valueOf(token)));
    job.process().destroy();
    job.exit();
    assertThat(Shell.text(job.err())).doesNotContain(password);
  }

  private void theCommandsExitCodeIsPassedOn() {
    assertThat(run("run", "nightly", "-c", "exit 3").exit()).isEqualTo(3);
    assertThat(run("run", "nightly", "--", "no-such-command").exit()).isEqualTo(127);
  }

  private void waitersAndReadersAndPermitsAreServed() {
    Started reader =
        shell.start(
            store,
            "run",
            "--shared",
            "report",
            "-c",
            "echo in; while [ ! -e go ]; do sleep 0.05; done");
    reader.awaitOutput("in");
    assertThat(run("run", "-n", "--shared", "report", "--", "true").exit()).isZero();
    refused(75, "busy", "run", "-n", "report", "--", "true");
    Started writer = shell.start(store, "run", "report", "-c", "echo wrote");
    shell.create("go");
    assertThat(writer.exit()).isZero();
    assertThat(writer.output()).isEqualTo("wrote\n");
    assertThat(reader.exit()).isZero();
    assertThat(run("run", "--permits", "2/3", "pool", "--", "true").exit()).isZero();
  }

  private void countersTablesAndUpkeepAreRefusedInOneLine() {
    refused(78, "no counters", "counter", "take", "tickets");
    refused(78, "no counters", "counter", "list");
    refused(78, "has no tables", "schema", "print");
    refused(78, "store ", "purge", "--idle", "1h");
    refused(78, "store ", "tokens", "raise");
  }
}
