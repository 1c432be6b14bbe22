package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.counter.Update;
import io.pawl.error.StoreConfigurationException;
import io.pawl.options.LockOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The file of a store is shared with others: other clients of this process, other processes, and
 * whoever may delete it. The system's locks on files are the process's and end with whatever closes
 * one of its descriptors; what was deleted is still open.
 */
class SqliteSharedFileTest {

  private static final LockOptions BRIEF = LockOptions.defaults().lease(Duration.ofSeconds(1));

  @TempDir Path folder;

  private Path file() {
    return folder.resolve("locks.db");
  }

  private Pawl open() {
    return Pawl.connect("sqlite:" + file());
  }

  /**
   * Tries a lock of a file once and goes; says {@code busy}, or the token. A lock of its own comes
   * first: the 500 ms of a try begin when it is called, and a JVM that has to load its classes for
   * it on a busy machine may need longer.
   */
  static final class Passer {
    public static void main(String[] arguments) throws InterruptedException {
      try (Pawl pawl = Pawl.connect("sqlite:" + arguments[0])) {
        pawl.lock("passer " + ProcessHandle.current().pid()).acquire().close();
        Optional<Lease> lease = pawl.lock(arguments[1]).tryAcquire();
        System.out.println(lease.map(held -> "token " + held.token()).orElse("busy"));
      } catch (StoreConfigurationException e) {
        System.out.println(e.getMessage());
      }
    }
  }

  /**
   * Asks the system, as SQLite does when it closes a file, whether nobody else has it open: whoever
   * is the last deletes the write-ahead log.
   */
  static final class Last {

    private static final long SHARED_LOCKS = 0x40000002L;
    private static final long SHARED_LOCKS_SIZE = 510;

    public static void main(String[] arguments) throws IOException {
      try (FileChannel file =
          FileChannel.open(
              Path.of(arguments[0]), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        boolean alone = file.tryLock(SHARED_LOCKS, SHARED_LOCKS_SIZE, false) != null;
        System.out.println(alone ? "alone" : "not alone");
      }
    }
  }

  private String whatAnotherProcessSaysOf(String lock) throws Exception {
    return whatAnotherProcessSays(Passer.class, lock);
  }

  private String whatAnotherProcessSays(Class<?> main, String lock) throws Exception {
    return whatAnotherProcessSays(List.of(), main, lock);
  }

  private String whatAnotherProcessSays(List<String> launcher, Class<?> main, String lock)
      throws Exception {
    List<String> command = new ArrayList<>(launcher);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(file().toString(), lock));
    Process passer =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader said = passer.inputReader()) {
      String answer = said.readLine();
      assertThat(passer.waitFor()).isZero();
      return answer;
    } finally {
      passer.destroyForcibly();
    }
  }

  @Test
  void severalClientsOfOneProcessExcludeOtherProcessesThatComeAndGo() throws Exception {
    try (Pawl one = open();
        Lease before = one.lock("before").acquire();
        Pawl two = open()) {
      assertThat(whatAnotherProcessSays(Last.class, "")).isEqualTo("not alone");
      assertThat(whatAnotherProcessSaysOf("nobody's")).isEqualTo("token 1");
      assertThat(folder.resolve("locks.db-wal")).exists();
      try (Lease after = two.lock("after").acquire()) {
        for (int i = 0; i < 2; i++) {
          assertThat(whatAnotherProcessSaysOf("before")).isEqualTo("busy");
          assertThat(whatAnotherProcessSaysOf("after")).isEqualTo("busy");
        }
        assertThat(two.lock("before").tryAcquire()).isEmpty();
        assertThat(one.lock("after").tryAcquire()).isEmpty();
        assertThat(before.isValid()).isTrue();
        assertThat(after.isValid()).isTrue();
      }
      assertThat(whatAnotherProcessSaysOf("after")).isEqualTo("token 2");
    }
  }

  /** Where the host gives this account no namespaces, HostClockTest alone proves it. */
  private static boolean launches(List<String> launcher) throws Exception {
    List<String> command = new ArrayList<>(launcher);
    command.add("true");
    boolean launches = new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    if (!launches) {
      System.err.println("SqliteSharedFileTest: not allowed here: " + launcher);
    }
    return launches;
  }

  /** As in a container with a time namespace of its own. */
  @ParameterizedTest
  @ValueSource(strings = {"3600", "-60"})
  void aProcessInAnotherTimeNamespaceIsExcluded(String seconds) throws Exception {
    List<String> elsewhere = List.of("unshare", "-rT", "--fork", "--monotonic", seconds);
    try (Pawl pawl = open();
        Lease lease = pawl.lock("held").acquire()) {
      if (launches(elsewhere)) {
        assertThat(whatAnotherProcessSays(elsewhere, Passer.class, "held")).isEqualTo("busy");
      }
      assertThat(whatAnotherProcessSaysOf("held")).isEqualTo("busy");
      assertThat(lease.isValid()).isTrue();
    }
  }

  /** It would go by the wall clock, beside others that do not. */
  @Test
  void aProcessThatCannotReadTheBootIdIsRefused() throws Exception {
    String hide = "mount -t tmpfs none /proc/sys/kernel/random && exec \"$@\"";
    List<String> masked = List.of("unshare", "-rm", "sh", "-c", hide, "sh");
    try (Pawl pawl = open();
        Lease lease = pawl.lock("held").acquire()) {
      if (launches(masked)) {
        assertThat(whatAnotherProcessSays(masked, Passer.class, "held"))
            .contains("/proc/sys/kernel/random/boot_id")
            .contains("let this process read /proc");
      }
      assertThat(whatAnotherProcessSaysOf("held")).isEqualTo("busy");
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void aClientThatClosesLeavesTheOthersOfItsProcessExcluding() throws Exception {
    try (Pawl one = open();
        Lease lease = one.lock("held").acquire()) {
      try (Pawl two = open()) {
        two.lock("other").acquire().close();
      }
      assertThat(whatAnotherProcessSays(Last.class, "")).isEqualTo("not alone");
      SqlSchema.apply(StoreUrl.parse("sqlite:" + file()));
      assertThat(whatAnotherProcessSays(Last.class, "")).isEqualTo("not alone");
      assertThat(whatAnotherProcessSaysOf("held")).isEqualTo("busy");
      assertThat(whatAnotherProcessSaysOf("held")).isEqualTo("busy");
      assertThat(lease.isValid()).isTrue();
    }
  }

  /** A cleaner of temporary files may take any of the three. */
  @ParameterizedTest
  @ValueSource(strings = {"locks.db", "locks.db-wal", "locks.db-shm"})
  void aFileDeletedWhileALockIsHeldIsALoss(String deleted) throws Exception {
    try (Pawl pawl = open()) {
      Lease lease = pawl.lock("held", BRIEF).acquire();
      CompletableFuture<Void> lost = new CompletableFuture<>();
      lease.onLost(() -> lost.complete(null));

      Files.delete(folder.resolve(deleted));

      lost.get(20, SECONDS);
      assertThat(lease.isValid()).isFalse();
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> pawl.lock("held").tryAcquire())
            .isInstanceOf(StoreConfigurationException.class)
            .hasMessageContaining(deleted)
            .hasMessageContaining("deleted or replaced");
      }
      assertThatThrownBy(() -> pawl.counter("tickets").update(Update.set(1)))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining(deleted);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"locks.db", "locks.db-wal", "locks.db-shm"})
  void aFileDeletedBehindALinkToItIsALoss(String deleted) throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("link.db"), file());
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse("sqlite:" + link))) {
      Claim held = Claims.claim("x");
      store.attempt(held, standing -> {}).toCompletableFuture().get(20, SECONDS);

      Files.delete(folder.resolve(deleted));

      assertThat(store.renew(List.of(held)).toCompletableFuture().get(20, SECONDS).get(held.id()))
          .isInstanceOf(Standing.Gone.class);
    }
  }

  @Test
  void afterTheFileWasDeletedAClientOpenedAnewIsServed() throws Exception {
    try (Pawl pawl = open()) {
      Lease lease = pawl.lock("held", BRIEF).acquire();
      CompletableFuture<Void> lost = new CompletableFuture<>();
      lease.onLost(() -> lost.complete(null));
      try (var files = Files.list(folder)) {
        for (Path each : files.toList()) {
          Files.delete(each);
        }
      }
      try (Pawl anew = open()) {
        Lease second = anew.lock("held").acquire();
        assertThat(second.isValid()).isTrue();
        lost.get(20, SECONDS);
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(() -> pawl.lock("held").tryAcquire())
            .isInstanceOf(StoreConfigurationException.class)
            .hasMessageContaining("deleted or replaced");
        assertThat(anew.lock("held").tryAcquire()).isEmpty();
        assertThat(second.isValid()).isTrue();
        assertThat(whatAnotherProcessSaysOf("held")).isEqualTo("busy");
        second.close();
      }
      assertThat(whatAnotherProcessSaysOf("held")).isEqualTo("token 2");
    }
  }

  @Test
  void inAFileThatWasReplacedNoClaimIsKnownAndNoneIsTaken() throws Exception {
    Path backup = folder.resolve("backup.db");
    try (Pawl pawl = Pawl.connect("sqlite:" + backup)) {
      pawl.lock("x").acquire().close();
    }
    try (SqlStore store = openStore()) {
      Claim held = Claims.claim("x");
      Claim waiting = Claims.claim("x");
      store.attempt(held, standing -> {}).toCompletableFuture().get(20, SECONDS);
      store.attempt(waiting, standing -> {}).toCompletableFuture().get(20, SECONDS);

      Files.move(backup, file(), StandardCopyOption.REPLACE_EXISTING);

      assertThat(store.renew(List.of(held, waiting)).toCompletableFuture().get(20, SECONDS))
          .containsOnlyKeys(held.id(), waiting.id())
          .allSatisfy((id, standing) -> assertThat(standing).isInstanceOf(Standing.Gone.class));
      assertThat(store.attempt(Claims.claim("y"), standing -> {}))
          .failsWithin(Duration.ofSeconds(60))
          .withThrowableThat()
          .withCauseInstanceOf(StoreConfigurationException.class);
    }
  }

  private SqlStore openStore() throws IOException {
    return (SqlStore) Stores.open(StoreUrl.parse("sqlite:" + file()));
  }
}
