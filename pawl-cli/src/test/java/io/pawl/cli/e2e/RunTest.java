package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.RedisServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RunTest {

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
  void aCommandIsFoundThoughTheNameOfTheWorkingDirectoryIsNotUtf8() {
    String script =
        """
        mkdir "$(printf 'caf\\351')" && cd "$(printf 'caf\\351')" &&
        printf '#!/bin/sh\\necho ran' >job && chmod +x job && "$0" run x -- ./job &&
        PATH="$PWD:$PATH" "$0" run x -- job; "$0" run x -- ./no-such-job
        """;
    Started run = shell.launch(new ProcessBuilder("sh", "-c", script, Shell.LAUNCHER), Map.of());

    assertThat(run.exit()).isEqualTo(126);
    assertThat(run.output()).isEqualTo("ran\nran\n");
  }

  @Test
  void nothingIsPrintedOnSuccess() {
    Started run = shell.run("run", "x", "--", "true");
    assertThat(run.exit()).isZero();
    assertThat(run.output()).isEmpty();
    assertThat(run.errors()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void aBusyCheckWhoseFirstAnswerIsMissingAsksAgain(AfterDrop then) {
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = FaultProxy.before(server)) {
      Map<String, String> store =
          Map.of("PAWL_STORE", "redis://" + proxy.host() + ":" + proxy.port());
      proxy.dropReplies(1, then, "EVALSHA", "EVAL");
      Started run = shell.run(store, "run", "--skip-if-busy", "x", "-c", "echo ran");
      assertThat(run.errors()).isEmpty();
      assertThat(run.output()).isEqualTo("ran\n");
      assertThat(proxy.droppedReplies()).isEqualTo(1);
    }
  }

  @Test
  void theCommandsExitCodeIsPassedOn() {
    assertThat(shell.run("run", "x", "--", "sh", "-c", "exit 42").exit()).isEqualTo(42);
    assertThat(shell.run("run", "x", "-c", "kill -9 $$").exit()).isEqualTo(128 + 9);
  }

  @Test
  void theCommandFindsItsLockInItsEnvironmentAndNothingOfTheLauncher() {
    Instant before = Instant.now();
    Started run =
        shell.run(Map.of("LC_ALL", "C"), "run", "--holder", "nightly é", "x", "--", "env");
    Map<String, String> found =
        run.output()
            .lines()
            .collect(
                java.util.stream.Collectors.toMap(
                    line -> line.substring(0, line.indexOf('=')),
                    line -> line.substring(line.indexOf('=') + 1),
                    (a, b) -> b));
    assertThat(found)
        .containsEntry("PAWL_LOCK", "x")
        .containsEntry("PAWL_TOKEN", "1")
        .containsEntry("PAWL_HOLDER", "nightly é")
        .containsEntry("LC_ALL", "C")
        .doesNotContainKeys("_JAVA_SR_SIGNUM", "PAWL_CALLERS_LC_ALL");
    assertThat(Instant.parse(found.get("PAWL_EXPIRES_AT")))
        .isBetween(before.plusSeconds(25), Instant.now().plusSeconds(30));
  }

  /** A JVM raises its own, which programs inherit that look at each file that they could have. */
  @Test
  void theCommandMayOpenAsManyFilesAsItsCaller() {
    ProcessBuilder builder =
        new ProcessBuilder(
            "sh", "-c", "ulimit -Sn 200; exec \"$0\" run x -c 'ulimit -Sn'", Shell.LAUNCHER);
    Started run = shell.launch(builder, Map.of());
    assertThat(run.exit()).isZero();
    assertThat(run.output()).isEqualTo("200\n");
  }

  @Test
  void streamsAreTheCommandsByteForByte() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < 100_000; i++) {
      bytes.write(i * 31 + i / 256);
    }
    Path input = directory.resolve("input");
    Files.write(input, bytes.toByteArray());
    ProcessBuilder builder =
        new ProcessBuilder(Shell.LAUNCHER, "run", "x", "--", "sh", "-c", "tee /dev/stderr");
    Started run = shell.launch(builder.redirectInput(input.toFile()), Map.of());
    assertThat(run.exit()).isZero();
    assertThat(run.out()).hasBinaryContent(bytes.toByteArray());
    assertThat(run.err()).hasBinaryContent(bytes.toByteArray());
  }

  /** Java opens files of its own, the first of them in the place of what is closed. */
  @Test
  void aStandardInputThatIsClosedIsEmptyForTheCommand() {
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", "exec \"$0\" run x -- cat <&-", Shell.LAUNCHER);
    Started run = shell.launch(builder, Map.of());
    assertThat(run.exit()).isZero();
    assertThat(run.out()).isEmptyFile();
  }

  /** Elsewhere it would not be found before the lock is taken, or only after that. */
  @Test
  void withoutAPathACommandIsLookedForWhereJavaFindsIt() throws IOException {
    Path command = Files.writeString(directory.resolve("mine"), "#!/bin/sh\necho mine\n");
    Files.setPosixFilePermissions(command, PosixFilePermissions.fromString("rwxr-xr-x"));
    Map<String, String> none = Map.of("PATH", "", "JAVA_HOME", System.getProperty("java.home"));
    assertThat(shell.run(none, "run", "x", "--", "mine").output()).isEqualTo("mine\n");
  }

  /** In a container that runs as a bare number; Java before 19 says "?" of its home. */
  @Test
  void anAccountWithoutAnEntryInPasswdHasItsStoreInHome() {
    String homeless = "-Duser.home=?";
    Map<String, String> unset =
        Map.of("PAWL_STORE", "", "XDG_STATE_HOME", "", "JAVA_TOOL_OPTIONS", homeless);
    assertThat(shell.run(unset, "run", "x", "--", "echo", "ran").output()).isEqualTo("ran\n");
    assertThat(directory.resolve(".local/state/pawl/locks.db")).exists();
    Map<String, String> none = new HashMap<>(unset);
    none.put("HOME", "");
    Started run = shell.run(none, "run", "x", "--", "true");
    assertThat(run.exit()).isEqualTo(78);
    assertThat(run.errors()).contains("set XDG_STATE_HOME or HOME");
  }

  @Test
  void argumentsArePassedOnUntouched() {
    Started run =
        shell.run("run", "x", "--", "printf", "<%s>", "", "a b", "@x", "--wait", "'\"*$", "--");
    assertThat(run.output()).isEqualTo("<><a b><@x><--wait><'\"*$><-->");
  }

  /** Five cold JVMs on a starved host keep each other from the file for longer than 5 s. */
  @Test
  void twoRunsNeverOverlap() {
    String step = "echo in $PAWL_TOKEN >>log; sleep 0.05; echo out $PAWL_TOKEN >>log";
    List<Started> runs = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      runs.add(shell.start("run", "--wait", "5m", "x", "-c", step));
    }
    runs.forEach(run -> assertThat(run.exit()).as(run.errors()).isZero());
    List<String> log = Shell.text(directory.resolve("log")).lines().toList();
    assertThat(log).hasSize(10);
    long last = 0;
    for (int i = 0; i < log.size(); i += 2) {
      long token = Long.parseLong(log.get(i).substring("in ".length()));
      assertThat(log.get(i + 1)).isEqualTo("out " + token);
      assertThat(token).isGreaterThan(last);
      last = token;
    }
  }

  @Test
  void aBusyLockHasItsExitCodes() {
    Started first = shell.start("run", "x", "-c", "echo ready; sleep 60").awaitOutput("ready");
    Started refused = shell.run("run", "-n", "x", "--", "echo", "never");
    assertThat(refused.exit()).isEqualTo(75);
    assertThat(refused.errors())
        .startsWith("pawl: lock 'x' is busy")
        .contains("pid " + first.process().pid())
        .hasLineCount(1);
    Started skipped = shell.run("run", "--skip-if-busy", "x", "--", "echo", "never");
    assertThat(skipped.exit()).isZero();
    assertThat(skipped.errors()).isEmpty();
    Started timedOut = shell.run("run", "--wait", "200ms", "x", "--", "echo", "never");
    assertThat(timedOut.exit()).isEqualTo(75);
    assertThat(refused.output() + skipped.output() + timedOut.output()).isEmpty();
  }

  @Test
  void theLockIsKeptForItsShortestHold() {
    long startedAt = System.nanoTime();
    assertThat(shell.run("run", "--min-hold", "3s", "x", "--", "true").exit()).isZero();
    assertThat(shell.run("run", "--wait", "20s", "x", "--", "true").exit()).isZero();
    assertThat(Duration.ofNanos(System.nanoTime() - startedAt))
        .isGreaterThan(Duration.ofSeconds(3));
  }

  @ParameterizedTest
  @ValueSource(strings = {"NONE", "TERM", "KILL"})
  void theShortestHoldOutlivesPawl(String signal) {
    String command = signal.equals("NONE") ? "echo started" : "echo started; exec sleep 60";
    Started run = shell.start("run", "--min-hold", "1h", "x", "-c", command);
    run.awaitOutput("started");
    if (!signal.equals("NONE")) {
      shell.signal(signal, run.process().pid());
    }
    run.exit();
    assertThat(shell.run("run", "--skip-if-busy", "x", "--", "echo", "never").output()).isEmpty();
    assertThat(shell.run("run", "-n", "x", "--", "true").exit()).isEqualTo(75);
    assertThat(shell.run("release", "x", "--force").exit()).isZero();
    assertThat(shell.run("run", "-n", "x", "--", "true").exit()).isZero();
  }

  @Test
  void aCommandThatRunsTooLongIsStoppedWithAllThatItStarted() {
    Started run =
        shell.run(
            "run",
            "--max-run",
            "1s",
            "--kill-after",
            "200ms",
            "x",
            "-c",
            "trap '' TERM; setsid sleep 60 & echo $! >>pids; echo $$ >>pids; while :; do sleep 1; done");
    assertThat(run.exit()).isEqualTo(128 + 9);
    assertThat(run.errors()).contains("--max-run").hasLineCount(1);
    assertThat(shell.pids(2)).noneMatch(Shell::isAlive);
  }

  @Test
  void jsonTellsEachStepOnStandardError() {
    Started run = shell.run("run", "--json", "x", "--", "sh", "-c", "exit 3");
    assertThat(run.output()).isEmpty();
    assertThat(run.errors().lines())
        .satisfiesExactly(
            line ->
                assertThat(line).startsWith("{\"event\":\"acquired\",\"lock\":\"x\",\"token\":1,"),
            line ->
                assertThat(line)
                    .isEqualTo("{\"event\":\"ended\",\"lock\":\"x\",\"token\":1,\"exit\":3}"));
  }

  @Test
  void theLauncherWorksThroughASymbolicLinkAndAForeignDirectory() throws IOException {
    Path link = directory.resolve("p");
    Files.createSymbolicLink(link, Path.of(Shell.LAUNCHER));
    Started run = shell.launch(new ProcessBuilder("./p", "--version"), Map.of());
    assertThat(run.exit()).isZero();
    assertThat(run.output()).startsWith("pawl ");
  }
}
