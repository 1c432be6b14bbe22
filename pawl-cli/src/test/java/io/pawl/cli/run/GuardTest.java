package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GuardTest {

  private static final String MARK = "8badf00d8badf00d";
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir Path directory;

  /** Limits do not bind an administrator. */
  private static ProcessBuilder limitable(String... command) {
    List<String> another =
        "root".equals(System.getProperty("user.name"))
            ? List.of("setpriv", "--reuid=64123", "--regid=64123", "--clear-groups")
            : List.of();
    return new ProcessBuilder(Stream.concat(another.stream(), Stream.of(command)).toList());
  }

  /** With a minute to go, and a second between TERM and KILL. */
  private static String[] guardOf(Process command, String... shell) {
    List<String> script =
        List.of(
            "-c",
            Scripts.read("guard.sh"),
            "pawl-guard",
            MARK,
            Long.toString(command.pid()),
            Long.toString(Guard.uptime() + 60_000),
            "100");
    return Stream.concat(Stream.of(shell), script.stream()).toArray(String[]::new);
  }

  private static void letForks(Process process, String limit) throws Exception {
    String pid = Long.toString(process.pid());
    String most = "$(prlimit --pid " + pid + " --nproc --output HARD --noheadings)";
    String soft = limit.isEmpty() ? most : limit;
    Process set = limitable("sh", "-c", "prlimit --pid " + pid + " --nproc=" + soft + ":").start();
    assertThat(set.waitFor()).isZero();
  }

  /** As where the command has as many processes as it may have, for a moment. */
  @Test
  void aGuardThatCouldStartNoProcessForAMomentStillStopsTheCommandOfAPawlThatDies()
      throws Exception {
    Path said = directory.resolve("said");
    Process command = limitable("sleep", "600").start();
    Process guard = limitable(guardOf(command, "/bin/sh")).redirectError(said.toFile()).start();
    try (OutputStream pawl = guard.getOutputStream()) {
      await().atMost(LONG).until(() -> guard.children().findAny().isPresent());
      letForks(guard, "1");
      order(pawl, Guard.uptime() + 60_000 + " 100");
      await().atMost(LONG).until(() -> Files.size(said) > 0);
      letForks(guard, "");
      pawl.close();

      assertThat(command.onExit()).succeedsWithin(LONG);
    } finally {
      command.destroyForcibly();
      guard.destroyForcibly();
    }
  }

  /** As /bin/sh is it on some systems: it ends where a fork fails, whatever a script does. */
  @Test
  void aGuardOfBashHearsOfPawlThoughNoProcessCanBeStarted() throws Exception {
    Process command = limitable("sleep", "600").start();
    Process guard = limitable(guardOf(command, "bash", "--posix")).start();
    try (OutputStream pawl = guard.getOutputStream()) {
      await().atMost(LONG).until(() -> guard.info().command().orElse("").endsWith("bash"));
      letForks(guard, "1");
      order(pawl, Guard.uptime() + 60_000 + " 100");
      order(pawl, "done");

      assertThat(guard.onExit()).succeedsWithin(LONG);
      assertThat(guard.exitValue()).isZero();
      assertThat(command.isAlive()).isTrue();
    } finally {
      command.destroyForcibly();
      guard.destroyForcibly();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"BASH_VERSION", "BASH_VERSINFO"})
  void anExportedVariableOfBashHidesTheTimeFromNoOtherShell(String variable) throws Exception {
    Process command = new ProcessBuilder("sleep", "600").start();
    ProcessBuilder script = new ProcessBuilder(guardOf(command, "/bin/sh"));
    script.environment().put(variable, "5.2.15(1)-release");
    Process guard = script.start();
    try (OutputStream pawl = guard.getOutputStream()) {
      order(pawl, Guard.uptime() + 100 + " 100");

      assertThat(command.onExit()).succeedsWithin(LONG);
    } finally {
      command.destroyForcibly();
      guard.destroyForcibly();
    }
  }

  /** As in a container whose {@code lxcfs} counts from the start of it. */
  @Test
  void aGuardCountsInTheFirstSecondOfItsHostToo() throws Exception {
    Path uptime = Files.writeString(directory.resolve("uptime"), "0.08 0.01\n");
    Process command = new ProcessBuilder("sleep", "600").start();
    List<String> script = new ArrayList<>(List.of(guardOf(command, "/bin/sh")));
    script.replaceAll(word -> word.replace("/proc/uptime", uptime.toString()));
    Process guard = new ProcessBuilder(script).start();
    try {
      guard.getOutputStream().close();

      assertThat(command.onExit()).succeedsWithin(LONG);
    } finally {
      command.destroyForcibly();
      guard.destroyForcibly();
    }
  }

  /** As in a container of an old {@code lxcfs}, which says tenths. */
  @Test
  void aGuardReadsTheClockAsItsPawlDoes() throws Exception {
    Path uptime = Files.writeString(directory.resolve("uptime"), "1000.0 0.0\n");
    Process command = new ProcessBuilder("sleep", "600").start();
    List<String> script = new ArrayList<>(List.of(guardOf(command, "/bin/sh")));
    script.replaceAll(word -> word.replace("/proc/uptime", uptime.toString()));
    script.set(script.size() - 2, Long.toString(Guard.uptime(uptime) + 6_000));
    Process guard = new ProcessBuilder(script).start();
    try (OutputStream pawl = guard.getOutputStream()) {
      order(pawl, "done");

      assertThat(guard.onExit()).succeedsWithin(LONG);
      assertThat(command.isAlive()).isTrue();
      assertThat(Guard.uptime(uptime)).isEqualTo(100_000);
    } finally {
      command.destroyForcibly();
      guard.destroyForcibly();
    }
  }

  /** As where memory is short, of which pawl may have died just now. */
  @Test
  void whatTheCommandHasLeftBehindIsStoppedThoughTheFirstThatLooksForItAreKilled()
      throws Exception {
    Path grep = directory.resolve("grep");
    Files.writeString(
        grep,
        "#!/bin/sh\necho >>"
            + directory.resolve("calls")
            + "\n[ $(wc -l <"
            + directory.resolve("calls")
            + ") -gt 2 ] || kill -s KILL $$\nPATH=${PATH#*:}\nexec grep \"$@\"\n");
    assertThat(grep.toFile().setExecutable(true)).isTrue();
    Process command = new ProcessBuilder("true").start();
    assertThat(command.waitFor()).isZero();
    ProcessBuilder orphan = new ProcessBuilder("sleep", "600");
    orphan.environment().put("PAWL_RUN", MARK);
    Process left = orphan.start();
    ProcessBuilder script = new ProcessBuilder(guardOf(command, "/bin/sh"));
    script.environment().put("PATH", directory + ":" + System.getenv("PATH"));
    Process guard = script.start();
    try {
      guard.getOutputStream().close();

      assertThat(left.onExit()).succeedsWithin(LONG);
      assertThat(guard.waitFor()).isZero();
    } finally {
      left.destroyForcibly();
      guard.destroyForcibly();
    }
  }

  /** As that of a process which hangs in a file system that does not answer. */
  @Test
  void aCommandIsStoppedThoughAnEnvironmentCannotBeReadForNow() throws Exception {
    Path environment = directory.resolve("environ");
    assertThat(new ProcessBuilder("mkfifo", environment.toString()).start().waitFor()).isZero();
    Process command = new ProcessBuilder("sleep", "600").start();
    List<String> script = new ArrayList<>(List.of(guardOf(command, "/bin/sh")));
    script.replaceAll(word -> word.replace("/proc/[0-9]*/environ", environment.toString()));
    Process guard = new ProcessBuilder(script).start();
    try {
      guard.getOutputStream().close();

      assertThat(command.onExit()).succeedsWithin(LONG);
    } finally {
      command.destroyForcibly();
      guard.destroyForcibly();
      release(environment);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "100"})
  void aCommandIsStoppedBeforeTheSearchForWhatItHasLeftBehindEnds(String grace) throws Exception {
    Path search = Files.createFile(directory.resolve("search"));
    Path timeout = directory.resolve("timeout");
    Files.writeString(
        timeout,
        "#!/bin/sh\nPATH=${PATH#*:}\ncase $* in *grep*) while [ -e "
            + search
            + " ]; do sleep 0.1; done; exit 1 ;; esac\nexec timeout \"$@\"\n");
    assertThat(timeout.toFile().setExecutable(true)).isTrue();
    Process command = new ProcessBuilder("sleep", "600").start();
    String[] words = guardOf(command, "/bin/sh");
    words[words.length - 1] = grace;
    ProcessBuilder script = new ProcessBuilder(words);
    script.environment().put("PATH", directory + ":" + System.getenv("PATH"));
    Process guard = script.start();
    try {
      guard.getOutputStream().close();

      assertThat(command.onExit()).succeedsWithin(LONG);
      Files.delete(search);
      assertThat(guard.onExit()).succeedsWithin(LONG);
    } finally {
      Files.deleteIfExists(search);
      command.destroyForcibly();
      guard.destroyForcibly();
    }
  }

  /** Whoever still waits for it reads that it is empty. */
  private static void release(Path fifo) throws Exception {
    new ProcessBuilder("timeout", "1", "sh", "-c", ": >\"$1\"", "sh", fifo.toString())
        .start()
        .waitFor();
  }

  private static boolean isGone(long pid) {
    ProcessStat stat = ProcessStat.of(Long.toString(pid));
    return stat == null || stat.isZombie();
  }

  /** It takes its time after TERM, which its parent does not; its environment is its own. */
  @Test
  void aDescendantWithoutTheMarkWhoseParentEndsFirstIsStoppedToo() throws Exception {
    String child = "trap '' TERM; echo $$; exec sleep 600 >/dev/null";
    Process command =
        new ProcessBuilder("sh", "-c", "env -i sh -c \"$1\" & wait", "sh", child).start();
    long descendant = Long.parseLong(command.inputReader().readLine());
    Process guard = new ProcessBuilder(guardOf(command, "/bin/sh")).start();
    try {
      guard.getOutputStream().close();
      assertThat(guard.onExit()).succeedsWithin(LONG);

      assertThat(isGone(command.pid())).isTrue();
      await().atMost(LONG).until(() -> isGone(descendant));
    } finally {
      ProcessHandle.of(descendant).ifPresent(ProcessHandle::destroyForcibly);
      command.destroyForcibly();
      guard.destroyForcibly();
    }
  }

  private static void order(OutputStream pawl, String line) throws IOException {
    pawl.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
    pawl.flush();
  }
}
