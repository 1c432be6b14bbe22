package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The launcher script in a tree of its own, with a Java that does nothing but make archives. */
class LauncherTest {

  private static final String JAVA =
      """
      #!/bin/sh
      case " $* " in *' -Xshare:dump '*) dumps=yes ;; *) dumps= ;; esac
      for option in "$@"; do
        case $option in
          -XX:SharedArchiveFile=*) [ -z "$dumps" ] || echo archive >"${option#*=}" ;;
        esac
      done
      [ "$dumps" ] || echo "ran $*"
      """;

  @TempDir Path directory;
  private Path launcher;
  private Path target;
  private Path lib;
  private final Map<String, String> variables = new HashMap<>();

  @BeforeEach
  void setUp() throws IOException {
    target = directory.resolve("pawl-cli/target");
    lib = Files.createDirectories(target.resolve("dist/lib"));
    Files.createFile(lib.resolve("pawl.jar"));
    launcher = program(directory.resolve("pawl"), Files.readString(Path.of(Shell.LAUNCHER)));
    Path jdk = Files.createDirectory(directory.resolve("jdk"));
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"17.0.1\"\n");
    program(Files.createDirectory(jdk.resolve("bin")).resolve("java"), JAVA);
    variables.put("JAVA_HOME", jdk.toString());
    variables.put("TMPDIR", Files.createDirectory(directory.resolve("tmp")).toString());
  }

  private static Path program(Path file, String script) throws IOException {
    Files.writeString(file, script);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Before the other programs of this name. */
  private void shadow(String name, String script) throws IOException {
    Path programs = Files.createDirectories(directory.resolve("programs"));
    program(programs.resolve(name), "#!/bin/sh\n" + script);
    variables.put("PATH", programs + ":" + System.getenv("PATH"));
  }

  private Path out() {
    return directory.resolve("out");
  }

  private int exit(String... command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().putAll(variables);
    Process process = builder.redirectErrorStream(true).redirectOutput(out().toFile()).start();
    try {
      assertThat(process.waitFor(Shell.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return process.exitValue();
  }

  private void starts(String... command) throws Exception {
    assertThat(exit(command)).isZero();
    assertThat(Shell.text(out())).contains("ran ").contains("io.pawl.cli.Main --version");
    assertThat(target.resolve(".building")).doesNotExist();
  }

  private List<String> archives() throws IOException {
    try (Stream<Path> files = Files.list(lib)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(f -> f.contains("jsa"))
          .toList();
    }
  }

  @Test
  void aDirectoryForTemporaryFilesWithASpaceCostsNoOtherFile() throws Exception {
    Path other = Files.createDirectory(directory.resolve("my"));
    Path precious = Files.createFile(other.resolve("precious"));
    Path temporary = Files.createDirectory(directory.resolve("my files"));
    variables.put("TMPDIR", temporary.toString());

    starts(launcher.toString(), "--version");

    assertThat(precious).exists();
    assertThat(temporary).isEmptyDirectory();
    assertThat(archives()).containsExactly("pawl-17.0.1.jsa");
  }

  /** As the first process of a container, which has number 1 each time. */
  @ParameterizedTest
  @ValueSource(strings = {"$$", "$$ 1"})
  void aLockThatAKilledPawlOfTheSameNumberLeftIsTakenOver(String owner) throws Exception {
    Files.createDirectory(target.resolve(".building"));

    starts("sh", "-c", "echo " + owner + " >pawl-cli/target/.building/pid; exec ./pawl --version");

    assertThat(archives()).containsExactly("pawl-17.0.1.jsa");
  }

  @Test
  void whereNoLockCanBeMadeForTheArchivePawlStartsWithoutOne() throws Exception {
    shadow("mkdir", "case $* in *.building) exit 1 ;; esac; exec /bin/mkdir \"$@\"\n");

    starts(launcher.toString(), "--version");

    assertThat(archives()).isEmpty();
  }

  /** Of a build; {@code then} happens to it when it has been found dead for the 20th time. */
  private void leaveADeadLock(String then) throws IOException {
    Files.delete(lib.resolve("pawl.jar"));
    Path dead = Files.createDirectory(target.resolve(".building"));
    Files.writeString(dead.resolve("pid"), "999999999 1\n");
    shadow("mvn", "echo jar >pawl-cli/target/dist/lib/pawl.jar\n");
    shadow(
        "mkdir",
        """
        case $* in *.building) ;; *) exec /bin/mkdir "$@" ;; esac
        echo call >>calls
        call=$(wc -l <calls)
        """
            + then
            + "exec /bin/mkdir \"$@\"\n");
  }

  @Test
  void aStartThatIsOvertakenInTakingADeadLockOverWaitsItsTurn() throws Exception {
    leaveADeadLock("[ $call != 21 ] || { rm -r \"$1\"; exit 1; }\n");

    starts(launcher.toString(), "--version");
  }

  @Test
  void aLockThatWasMadeJustNowIsNotTakenForTheDeadOneBeforeIt() throws Exception {
    leaveADeadLock(
        """
        [ $call != 21 ] || { rm "$1/pid"; exit 1; }
        [ $call != 22 ] || { rmdir "$1" || echo >stolen; exit 1; }
        """);

    starts(launcher.toString(), "--version");

    assertThat(directory.resolve("stolen")).doesNotExist();
  }

  /** Between the look at the dead lock and its removal, it is another's and alive. */
  @Test
  void aLockThatAnotherHasTakenOverMeanwhileIsLeftToIt() throws Exception {
    leaveADeadLock("[ $call != 30 ] || { rm other; rm -r \"$1\"; exit 1; }\n");
    shadow("mvn", "[ ! -e other ] || echo >both; echo jar >pawl-cli/target/dist/lib/pawl.jar\n");
    String stat = Files.readString(Path.of("/proc/self/stat"));
    String born = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[19];
    String overtake =
        "[ -e overtaken ] || { echo >overtaken; echo >other; /bin/rm -r \"$lock\"; /bin/mkdir"
            + " \"$lock\"; echo "
            + ProcessHandle.current().pid()
            + " "
            + born
            + " >\"$lock/pid\"; }\n";
    String lock = "lock=" + target.resolve(".building") + "\n";
    shadow("mv", lock + overtake + "exec /bin/mv \"$@\"\n");
    Path mkdir = directory.resolve("programs/mkdir");
    String counted = Files.readString(mkdir);
    shadow("mkdir", lock + "case $* in *.building.*) " + overtake.strip() + " ;; esac\n" + counted);

    starts(launcher.toString(), "--version");

    assertThat(directory.resolve("overtaken")).exists();
    assertThat(directory.resolve("both")).doesNotExist();
  }

  private void leaveADeadLockThatOneBeganToTakeOver() throws Exception {
    leaveADeadLock("");
    shadow("mv", "kill -s KILL $PPID\n");
    assertThat(exit(launcher.toString(), "--version")).isEqualTo(137);
    shadow("mv", "exec /bin/mv \"$@\"\n");
  }

  @Test
  void aDeadLockIsTakenOverThoughWhoBeganToTakeItOverWasKilled() throws Exception {
    leaveADeadLockThatOneBeganToTakeOver();

    starts(launcher.toString(), "--version");

    assertThat(target).isDirectoryNotContaining("glob:**.building*");
  }

  /** Each of them finds at once that it may look for who was killed. */
  @Test
  void startsThatFindThatWhoBeganToTakeADeadLockOverWasKilledBuildOneAfterAnother()
      throws Exception {
    leaveADeadLockThatOneBeganToTakeOver();
    shadow("mv", "case $* in *.building*) sleep 0.3 ;; esac\nexec /bin/mv \"$@\"\n");
    shadow(
        "mvn",
        """
        /bin/mkdir busy || echo >both
        sleep 1
        rmdir busy
        echo jar >pawl-cli/target/dist/lib/pawl.jar
        """);

    starts(
        "sh", "-c", "for start in 1 2 3 4 5 6; do ./pawl --version & done; wait; ./pawl --version");

    assertThat(directory.resolve("both")).doesNotExist();
  }

  @Test
  void aDeadLockThatCannotBeMovedIsToldOfInsteadOfWaitedFor() throws Exception {
    leaveADeadLock("");
    shadow("mv", "exit 1\n");

    assertThat(exit(launcher.toString(), "--version")).isEqualTo(77);

    assertThat(Shell.text(out())).contains(".building").contains("delete it");
  }

  @Test
  void aRebuildAloneIsASuccess() throws Exception {
    shadow("mvn", "echo jar >pawl-cli/target/dist/lib/pawl.jar\n");

    assertThat(exit(launcher.toString(), "--rebuild")).isZero();

    assertThat(Shell.text(out())).doesNotContain("ran ");
    assertThat(lib.resolve("pawl.jar")).hasContent("jar");
    assertThat(archives()).containsExactly("pawl-17.0.1.jsa");
  }

  /** As jenv and asdf put it on the PATH. */
  @Test
  void aJavaThatIsAScriptElsewhereBuildsWithTheJdkThatItFinds() throws Exception {
    Files.delete(lib.resolve("pawl.jar"));
    String jdk = variables.get("JAVA_HOME");
    shadow(
        "java",
        """
        [ "$1" != -XshowSettings:properties ] || printf '    java.%s\\n' 'home = JDK' 'version = 17.0.1'
        [ "$1" = -XshowSettings:properties ] || exec JDK/bin/java "$@"
        """
            .replace("JDK", jdk));
    shadow("mvn", "echo \"$JAVA_HOME\" >pawl-cli/target/dist/lib/pawl.jar\n");

    starts("env", "-u", "JAVA_HOME", launcher.toString(), "--version");

    assertThat(lib.resolve("pawl.jar")).hasContent(jdk);
    assertThat(archives()).containsExactly("pawl-17.0.1.jsa");
  }

  @Test
  void aRebuildLeavesNoJarOfAnEarlierVersionBesideItsOwn() throws Exception {
    Path lab = Files.createDirectories(directory.resolve("pawl-lab/target"));
    Files.createFile(lab.resolve("pawl-lab-1.jar"));
    shadow("mvn", "mkdir -p pawl-lab/target/lib; echo jar >pawl-lab/target/pawl-lab-2.jar\n");

    assertThat(exit(launcher.toString(), "--rebuild", "lab")).isZero();

    assertThat(Shell.text(out())).contains("ran -cp " + lab.resolve("pawl-lab-2.jar") + ":");
  }

  @Test
  void anArchiveThatFindsNoRoomLeavesNothingBehind() throws Exception {
    shadow("cp", "echo part >\"$2\"; exit 1\n");

    starts(launcher.toString(), "--version");

    assertThat(archives()).isEmpty();
  }
}
