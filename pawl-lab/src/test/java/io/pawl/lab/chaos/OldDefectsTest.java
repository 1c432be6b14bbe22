package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code old-defects/find} takes back is still there to be taken back. */
class OldDefectsTest {

  private static final Path ROOT = Path.of("..");

  static List<Path> patches() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("old-defects"))) {
      return files.filter(file -> file.toString().endsWith(".patch")).sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("patches")
  void eachPatchFitsTheSources(Path patch) throws IOException {
    String file = null;
    StringBuilder before = new StringBuilder();
    int hunks = 0;
    for (String line : (Files.readString(patch) + "\n@@").split("\n")) {
      boolean isHunk = line.startsWith("@@");
      if ((isHunk || line.startsWith("---") || line.startsWith("diff")) && before.length() > 0) {
        assertThat(Files.readString(ROOT.resolve(file))).as(file).contains(before);
        before.setLength(0);
        hunks++;
      }
      if (line.startsWith("--- a/")) {
        file = line.substring("--- a/".length());
      } else if (file != null && (line.startsWith(" ") || line.startsWith("-"))) {
        before.append(line.substring(1)).append('\n');
      }
    }
    assertThat(hunks).isPositive();
  }

  @ParameterizedTest
  @MethodSource("patches")
  void eachSaysWhatFindsIt(Path patch) throws IOException {
    assertThat(Files.readAllLines(patch).get(0))
        .matches("simulation|--store \\S+ --seed \\d+ --seconds \\d+");
  }
}
