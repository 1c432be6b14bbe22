package io.pawl.lab.report;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where a page goes. */
public final class PageFile {

  private PageFile() {}

  /**
   * Checks that {@code file} can be written, before minutes are spent on what it is to say.
   *
   * @throws IllegalArgumentException where it cannot
   */
  public static void check(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    boolean canBe =
        Files.exists(file)
            ? Files.isWritable(file) && !Files.isDirectory(file)
            : folder != null && Files.isDirectory(folder) && Files.isWritable(folder);
    if (!canBe) {
      throw new IllegalArgumentException(
          file + " cannot be written; name a file in a folder that is there");
    }
  }
}
