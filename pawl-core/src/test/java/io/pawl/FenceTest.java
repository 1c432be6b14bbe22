package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
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
    try (Stream<Path> files = Files.list(directory.resolve("fence"))) {
      for (Path file : files.filter(f -> !f.toString().endsWith(".lock")).toList()) {
        Files.writeString(file, "");
      }
    }
    assertThatThrownBy(() -> fence.write("r", 10, () -> assertThat("written").isEmpty()))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("damaged");
    assertThatThrownBy(() -> Fence.inDirectory(directory.resolve("no").resolve("parent")))
        .isInstanceOf(StoreException.class);
  }
}
