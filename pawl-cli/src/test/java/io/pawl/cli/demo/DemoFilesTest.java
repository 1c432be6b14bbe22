package io.pawl.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.demo.DemoFiles.Content;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoFilesTest {

  @TempDir Path folder;

  @Test
  void p3_noEarlierHolderWritesBetweenTheReadAndTheWriteOfALaterOne() {
    DemoFiles files = new DemoFiles(folder, true);
    long first = files.readFenced(1).value();
    long second = files.readFenced(2).value();

    assertThat(files.writeFenced(new Content(1, first + 1), () -> {})).isFalse();
    assertThat(files.writeFenced(new Content(2, second + 1), () -> {})).isTrue();
    assertThat(files.readFenced()).isEqualTo(new Content(2, 1));
  }
}
