package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.DistributedLock;
import io.pawl.LockGroup;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Another process keeps the file locked, and lets go of it when the case says so: all waits end
 * before.
 */
class LockedFileTest {

  @TempDir Path folder;
  private Pawl client;
  private Process other;

  /** Runs in a process of its own: holds the write lock until its input ends. */
  public static final class Locker {
    public static void main(String[] args) throws Exception {
      try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + args[0]);
          Statement statement = connection.createStatement()) {
        statement.execute("PRAGMA busy_timeout = 10000");
        statement.execute("BEGIN IMMEDIATE");
        System.out.println("locked");
        while (System.in.read() >= 0) {}
      }
    }
  }

  @BeforeEach
  void lockTheFile() throws IOException {
    Path file = folder.resolve("locks.db");
    client = Pawl.connect("sqlite:" + file);
    client.lock("warm").tryAcquire().orElseThrow().close();
    other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Locker.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    assertThat(other.inputReader().readLine()).isEqualTo("locked");
  }

  @AfterEach
  void unlock() throws Exception {
    other.getOutputStream().close();
    assertThat(other.waitFor(20, TimeUnit.SECONDS)).isTrue();
    client.close();
  }

  private interface Wait {
    Object on(DistributedLock lock, LockGroup group) throws Exception;
  }

  static Stream<Wait> boundedWaits() {
    Duration wait = Duration.ofMillis(100);
    return Stream.of(
        (lock, group) -> lock.tryAcquire(),
        (lock, group) -> lock.tryAcquire(wait),
        (lock, group) -> lock.tryAcquireAsync(Duration.ZERO).get(),
        (lock, group) -> lock.tryAcquireAsync(wait).get(),
        (lock, group) -> lock.asJavaLock().tryLock(),
        (lock, group) -> lock.asJavaLock().tryLock(100, TimeUnit.MILLISECONDS),
        (lock, group) -> group.tryAcquire(),
        (lock, group) -> group.tryAcquire(wait),
        (lock, group) -> group.tryAcquireAsync(wait).get());
  }

  /** SQLite itself says so after 5 s. */
  @ParameterizedTest
  @MethodSource("boundedWaits")
  void aBoundedWaitEndsLongBeforeTheDriverGivesUp(Wait wait) {
    long began = System.nanoTime();
    assertThatThrownBy(() -> wait.on(client.lock("a"), client.lockAll("a", "b")))
        .satisfiesAnyOf(
            thrown -> assertThat(thrown).isInstanceOf(StoreUnavailableException.class),
            thrown ->
                assertThat(thrown)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(StoreUnavailableException.class));
    assertThat(other.isAlive()).as("the file is still locked").isTrue();
    assertThat(System.nanoTime() - began).isLessThan(4_000_000_000L);
  }

  @Test
  void aBoundedWaitIsInterruptibleWhileTheDriverIsNot() throws Exception {
    FutureTask<Object> waiting =
        new FutureTask<>(() -> client.lock("a").tryAcquire(Duration.ofMinutes(1)));
    Thread thread = new Thread(waiting);
    thread.start();
    thread.interrupt();

    assertThatThrownBy(() -> waiting.get(4, TimeUnit.SECONDS))
        .hasCauseInstanceOf(InterruptedException.class);
  }

  @Test
  void theLockIsTakenOnceTheFileIsFreeAgain() throws Exception {
    assertThatThrownBy(() -> client.lock("a").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);
    unlock();
    client = Pawl.connect("sqlite:" + folder.resolve("locks.db"));

    assertThat(client.lock("a").tryAcquire(Duration.ofSeconds(20))).isPresent();
  }

  @Test
  void manyWaitsThatEndLeaveNoThreadEach() {
    for (int i = 0; i < 40; i++) {
      client.lock("n" + i).tryAcquireAsync(Duration.ZERO);
    }
    assertThatThrownBy(() -> client.lock("a").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(
            Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("-store-")))
        .hasSizeLessThanOrEqualTo(16);
  }
}
