package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

  /** As many as the engine renews at once. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void aBatchOfRenewalsIsOneTransaction(TestDatabase database) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(16);
    try (SqlStore store = database.open();
        Connection connection = database.connect()) {
      List<Claim> claims = new ArrayList<>();
      List<Future<Standing>> answers = new ArrayList<>();
      for (int i = 0; i < store.renewBatch(); i++) {
        Claim claim = Claims.claim("renewed-" + i);
        claims.add(claim);
        answers.add(
            threads.submit(() -> store.attempt(claim, standing -> {}).toCompletableFuture().get()));
      }
      for (Future<Standing> answer : answers) {
        assertThat(answer.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      }
      long before = transactions(connection);
      assertThat(store.renew(claims).toCompletableFuture().get(60, SECONDS)).hasSameSizeAs(claims);
      assertThat(transactions(connection) - before).isEqualTo(1);
    } finally {
      threads.shutdownNow();
    }
  }

  /** All that are begun; a statement outside of any would count as its own. */
  private static long transactions(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet begun =
            statement.executeQuery(
                "SHOW GLOBAL STATUS WHERE variable_name IN ('Com_begin', 'Com_update')")) {
      long sum = 0;
      while (begun.next()) {
        sum += begun.getLong(2);
      }
      return sum;
    }
  }

  private static long walFrames(Path file) throws IOException {
    return Files.size(Path.of(file + "-wal")) / 4_096;
  }
}
