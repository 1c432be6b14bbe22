package io.pawl.fence;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Rounds;
import io.pawl.error.StaleTokenException;
import io.pawl.error.StoreException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever was superseded is refused, whatever fence it is. */
class FenceTest {

  private static final int THREADS = 4;
  private static final int ROUNDS = 50;

  @TempDir Path directory;

  private Fence fence(String kind) {
    return kind.equals("memory")
        ? Fence.inMemory(100)
        : Fence.inDirectory(directory.resolve("fence"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "directory"})
  void aSmallerTokenIsRefusedAndAnEqualOneIsNot(String kind) {
    Fence fence = fence(kind);
    fence.accept("r", 7);
    fence.accept("r", 7);
    fence.accept("other", 1);
    assertThatThrownBy(() -> fence.accept("r", 6))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("'r'")
        .hasMessageContaining("7");
    assertThatThrownBy(() -> fence.write("r", 6, () -> assertThat("written").isEmpty()))
        .isInstanceOf(StaleTokenException.class);
    fence.accept("r", (1L << 53) - 1);
    assertThatThrownBy(() -> fence.accept("r", (1L << 53) - 2))
        .isInstanceOf(StaleTokenException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "directory"})
  void aWriteThatFailsLeavesItsTokenRemembered(String kind) {
    Fence fence = fence(kind);
    assertThatThrownBy(
            () ->
                fence.write(
                    "r",
                    9,
                    () -> {
                      throw new IOException("the resource's own");
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("the resource's own");
    assertThatThrownBy(() -> fence.accept("r", 8)).isInstanceOf(StaleTokenException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "directory"})
  void namesThatDifferInAnythingAreDifferentResources(String kind) {
    Fence fence = fence(kind);
    List<String> names =
        List.of("a", "A", "a ", "../a", "a/b", "\u00E4", "a\u0308", "x".repeat(512));
    names.forEach(name -> fence.accept(name, 5));
    names.forEach(name -> assertThatCode(() -> fence.accept(name, 5)).doesNotThrowAnyException());
    assertThatThrownBy(() -> fence.accept("", 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fence.accept("a\nb", 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fence.accept("a", 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fence.accept("a", 1L << 53))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "directory"})
  void theTokensOfWritesNeverFall(String kind) throws Exception {
    Fence one = fence(kind);
    Fence two = kind.equals("memory") ? one : fence(kind);
    AtomicLong resource = new AtomicLong();
    AtomicLong tokens = new AtomicLong();
    CyclicBarrier start = new CyclicBarrier(THREADS);
    Rounds.together(
        THREADS,
        number -> {
          start.await();
          for (int i = 0; i < ROUNDS; i++) {
            long token = tokens.incrementAndGet();
            try {
              (number % 2 == 0 ? one : two)
                  .write("r", token, () -> assertThat(resource.getAndSet(token)).isLessThan(token));
            } catch (StaleTokenException e) {
              assertThat(resource.get()).isGreaterThanOrEqualTo(token);
            }
          }
        });
    assertThat(resource.get()).isPositive();
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "directory"})
  void aLaterWriteWaitsForTheOneThatWasLetIn(String kind) {
    Fence one = fence(kind);
    Fence two = kind.equals("memory") ? one : fence(kind);
    CompletableFuture<Thread> later = new CompletableFuture<>();
    CountDownLatch letIn = new CountDownLatch(1);
    List<Long> written = new CopyOnWriteArrayList<>();
    Rounds.together(
        2,
        number -> {
          if (number == 0) {
            one.write(
                "r",
                1,
                () -> {
                  letIn.countDown();
                  Thread thread = later.get();
                  Awaitility.await().until(() -> isStuck(thread) || !written.isEmpty());
                  written.add(1L);
                });
          } else {
            letIn.await();
            later.complete(Thread.currentThread());
            two.write("r", 2, () -> written.add(2L));
          }
        });
    assertThat(written).containsExactly(1L, 2L);
  }

  private static boolean isStuck(Thread thread) {
    return thread.getState() == Thread.State.WAITING || !thread.isAlive();
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "directory"})
  void aWriteWithinAWriteIsRefusedAndTheOuterOneStaysAlone(String kind) throws Exception {
    Fence fence = fence(kind);
    Fence again = kind.equals("memory") ? fence : fence(kind);
    fence.write(
        "r",
        5,
        () -> {
          for (long token : new long[] {4, 5, 6}) {
            assertThatThrownBy(() -> again.accept("r", token))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'r'");
          }
          again.accept("other", 1);
          if (kind.equals("directory")) {
            try (OtherFence other = new OtherFence(directory.resolve("fence"))) {
              assertThat(other.locks("r")).as("another process is let in").isFalse();
            }
          }
        });
    fence.accept("r", 5);
  }

  /** Another process that tries the system's locks. */
  static final class OtherFence implements AutoCloseable {

    private final Process process;

    OtherFence(Path directory) throws IOException {
      process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-cp",
                  System.getProperty("java.class.path"),
                  OtherFence.class.getName(),
                  directory.toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
    }

    boolean locks(String resource) throws Exception {
      process.outputWriter().append(DirectoryFence.hash(resource)).append('\n').close();
      return Boolean.parseBoolean(process.inputReader().readLine());
    }

    public static void main(String[] arguments) throws IOException {
      String hash = new BufferedReader(new InputStreamReader(System.in, UTF_8)).readLine();
      try (FileChannel lock =
          FileChannel.open(
              Path.of(arguments[0]).resolve(hash + ".lock"), StandardOpenOption.WRITE)) {
        System.out.println(lock.tryLock() != null);
      }
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  /** As a second copy of the class would, in a class loader of its own. */
  @Test
  void aLockFileThatSomethingElseInThisProcessHasLockedStaysLocked() throws Exception {
    Fence fence = fence("directory");
    fence.accept("r", 1);
    Path lock = directory.resolve("fence").resolve(DirectoryFence.hash("r") + ".lock");
    try (FileChannel elsewhere = FileChannel.open(lock, StandardOpenOption.WRITE)) {
      elsewhere.lock();
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(() -> fence.accept("r", 2))
            .isInstanceOf(StoreException.class)
            .hasMessageContaining(".lock");
      }
      System.gc();
      try (OtherFence other = new OtherFence(directory.resolve("fence"))) {
        assertThat(other.locks("r")).as("another process is let in").isFalse();
      }
    }
    fence.accept("r", 2);
    assertThatThrownBy(() -> fence.accept("r", 1)).isInstanceOf(StaleTokenException.class);
  }

  /** Holds the fence until its input ends. */
  static final class OtherProcess {
    public static void main(String[] arguments) {
      Fence.inDirectory(Path.of(arguments[0]))
          .write(
              "r",
              9,
              () -> {
                System.out.println("inside");
                assertThatCode(() -> System.in.read()).doesNotThrowAnyException();
              });
    }
  }

  @Test
  void aWriteOfAnotherProcessKeepsThisOneWaiting() throws Exception {
    Fence fence = fence("directory");
    Process other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                OtherProcess.class.getName(),
                directory.resolve("fence").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said = other.inputReader()) {
      assertThat(said.readLine()).isEqualTo("inside");
      try (Stream<Path> files = Files.list(directory.resolve("fence"));
          FileChannel lock =
              FileChannel.open(
                  files.filter(f -> f.toString().endsWith(".lock")).findAny().orElseThrow(),
                  StandardOpenOption.WRITE)) {
        assertThat(lock.tryLock()).as("the system's lock").isNull();
      }
      other.getOutputStream().close();
      assertThat(other.waitFor()).isZero();
    } finally {
      other.destroyForcibly();
    }
    assertThatThrownBy(() -> fence.accept("r", 8)).isInstanceOf(StaleTokenException.class);
    fence.accept("r", 10);
  }

  @Test
  void aFenceInMemoryRefusesRatherThanForget() {
    Fence fence = Fence.inMemory(2);
    fence.accept("a", 5);
    fence.accept("b", 5);
    assertThatThrownBy(() -> fence.accept("c", 5))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("'c'");
    assertThatThrownBy(() -> fence.accept("a", 4)).isInstanceOf(StaleTokenException.class);
    assertThatThrownBy(() -> Fence.inMemory(0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aStoredFenceOutlivesItsProcess() {
    fence("directory").accept("r", 9);
    assertThatThrownBy(() -> fence("directory").accept("r", 8))
        .isInstanceOf(StaleTokenException.class);
  }

  @Test
  void aDamagedFileIsSaidSoAndNothingIsWritten() throws Exception {
    Fence fence = fence("directory");
    fence.accept("r", 9);
    for (String text : List.of("", "9", "9 r", "9 other\n", "0 r\n", "-9 r\n", "x r\n")) {
      try (Stream<Path> files = Files.list(directory.resolve("fence"))) {
        for (Path file : files.filter(f -> !f.toString().endsWith(".lock")).toList()) {
          Files.writeString(file, text);
        }
      }
      assertThatThrownBy(() -> fence.write("r", 10, () -> assertThat("written").isEmpty()))
          .as(text)
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("damaged");
    }
    assertThatThrownBy(() -> Fence.inDirectory(directory.resolve("no").resolve("parent")))
        .isInstanceOf(StoreException.class);
  }

  /** Its file has the new name by then, which a loss of power would undo. */
  @Test
  void aTokenThatMayNotBeOnTheDiskLetsNothingInUntilItIs() throws Exception {
    AtomicLong forced = new AtomicLong();
    AtomicBoolean fails = new AtomicBoolean(true);
    DirectoryFence.Forcing disk =
        path -> {
          if (fails.get()) {
            throw new IOException("the disk's own");
          }
          forced.incrementAndGet();
        };
    Path path = directory.resolve("fence");
    for (Fence fence :
        List.of(
            new DirectoryFence(path, disk),
            new DirectoryFence(path, disk))) { // the second as another process
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(() -> fence.write("r", 9, () -> assertThat("written").isEmpty()))
            .isInstanceOf(StoreException.class)
            .hasMessageContaining("the disk's own");
      }
    }
    fails.set(false);
    Fence fence = new DirectoryFence(path, disk);
    for (int i = 0; i < 2; i++) {
      fence.write("r", 9, () -> assertThat(forced).as("forced, once").hasValue(1));
    }
    Files.delete(path.resolve(DirectoryFence.hash("r")));
    fence.write("r", 9, () -> assertThat(forced).as("forced for a new file").hasValue(2));
  }

  @AfterEach
  void noPlaceToTakeTurnsIsLeft() {
    assertThat(DirectoryFence.TURNS).isEmpty();
  }
}
