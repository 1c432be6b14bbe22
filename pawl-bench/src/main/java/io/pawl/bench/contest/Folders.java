package io.pawl.bench.contest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Folders that go when the measurement is over. */
public final class Folders {

  private Folders() {}

  public static Path create(Path parent, String name) {
    try {
      return Files.createTempDirectory(parent, "pawl-bench-" + name + "-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public static void delete(Path folder) {
    try (Stream<Path> found = Files.walk(folder)) {
      List<Path> deepestFirst = found.sorted(Comparator.reverseOrder()).toList();
      for (Path path : deepestFirst) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
