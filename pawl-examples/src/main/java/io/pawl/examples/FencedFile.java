package io.pawl.examples;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StaleTokenException;
import io.pawl.fence.Fence;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;

/**
 * A file server with a fence: a holder that was paused for longer than its lease writes, and is
 * refused, since another has written with a larger token.
 */
public final class FencedFile {

  private FencedFile() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("pawl-example-");
    try (MemoryStore store = new MemoryStore();
        Pawl pawl = Pawl.over(store)) {
      show(pawl, folder.resolve("report.txt"), Fence.inDirectory(folder.resolve("fence")));
    } finally {
      delete(folder);
    }
  }

  private static void show(Pawl pawl, Path report, Fence fence)
      throws IOException, InterruptedException {
    // As after a pause: nobody renews this lease, and its holder does not look at it again.
    LockOptions brief = LockOptions.defaults().lease(Duration.ofMillis(200)).renewal(false);
    Lease paused = pawl.lock("report", brief).acquire();
    try (Lease next = pawl.lock("report").acquire()) {
      fence.write("report", next.token(), () -> Files.writeString(report, "new"));
      fence.write("report", paused.token(), () -> Files.writeString(report, "old"));
      throw new IllegalStateException("the write of a holder that was superseded went through");
    } catch (StaleTokenException refused) {
      System.out.println("refused: " + refused.getMessage());
    }
    if (!Files.readString(report).equals("new")) {
      throw new IllegalStateException("the report was overwritten");
    }
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
