package io.pawl.sql.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTurnsTest {

  @TempDir Path folder;

  @Test
  void connectionsOfOneProcessWriteInTurnWhateverTheyCallTheFile() throws IOException {
    Path real = Files.createDirectory(folder.resolve("real"));
    Path linked = Files.createSymbolicLink(folder.resolve("linked"), real);
    Path file = real.resolve("locks.db");
    Path link = Files.createSymbolicLink(folder.resolve("link.db"), Path.of("linked/locks.db"));

    Semaphore beforeItIsMade = FileTurns.of(link);
    assertThat(FileTurns.of(file)).isSameAs(beforeItIsMade);
    Files.createFile(file);

    for (Path name : List.of(file, link, linked.resolve("locks.db"))) {
      assertThat(FileTurns.of(name)).isSameAs(beforeItIsMade);
    }
    assertThat(FileTurns.of(real.resolve("other.db"))).isNotSameAs(beforeItIsMade);
  }
}
