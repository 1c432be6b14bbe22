package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CombinerTest {

  @TempDir Path folder;

  /** The file's writer is kept busy meanwhile, so that all requests are in the queue. */
  @Test
  void requestsThatArriveTogetherShareACommit() throws Exception {
    Path file = folder.resolve("locks.db");
    try (Pawl pawl = Pawl.connect("sqlite:" + file);
        Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = other.createStatement()) {
      statement.execute("BEGIN IMMEDIATE");
      List<CompletableFuture<Optional<Lease>>> leases = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        leases.add(pawl.lock("x" + i).tryAcquireAsync(Duration.ofSeconds(60)));
      }
      long framesBefore = walFrames(file);
      statement.execute("COMMIT");
      for (CompletableFuture<Optional<Lease>> lease : leases) {
        assertThat(lease.get(60, SECONDS)).isPresent();
      }
      assertThat(walFrames(file) - framesBefore)
          .as("pages written, of which a commit of its own writes at least one")
          .isLessThan(50);
    }
  }

  private static long walFrames(Path file) throws IOException {
    return Files.size(Path.of(file + "-wal")) / 4_096;
  }
}
