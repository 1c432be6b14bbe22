package io.pawl.lab.report;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A page that cannot be written is refused before anything is played. */
class PageFileTest {

  @TempDir Path folder;

  @Test
  void aFileInAFolderThatIsThereCanBeWritten() throws Exception {
    Path page = folder.resolve("page.html");
    assertThatCode(() -> PageFile.check(page)).doesNotThrowAnyException();
    assertThatCode(() -> PageFile.check(Files.createFile(page))).doesNotThrowAnyException();
    assertThatCode(() -> PageFile.check(Path.of("page.html"))).doesNotThrowAnyException();
  }

  @Test
  void aFolderAndAFileInNoFolderAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> PageFile.check(folder));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PageFile.check(folder.resolve("none/page.html")));
  }
}
