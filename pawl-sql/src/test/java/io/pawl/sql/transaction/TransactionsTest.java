package io.pawl.sql.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.sql.TestDatabase;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class TransactionsTest {

  private final CompletableFuture<String> due = new CompletableFuture<>();

  /** The JVM's have work of the application's, and remain when the store is closed. */
  @Test
  void aRestIsDueOnAThreadOfTheStoresOwn() {
    try (Transactions transactions = hurried()) {
      transactions.rest();

      assertThat(due).succeedsWithin(Duration.ofMinutes(1)).asString().startsWith("test-rest");
    }
  }

  @Test
  void p8_nothingLeftBehind_whoeverClosesWaitsForNoRest() throws Exception {
    Transactions transactions = hurried();
    transactions.rest();
    Thread waits =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("test-rest"))
            .findFirst()
            .orElseThrow();

    transactions.refuseMore();
    transactions.close();

    waits.join(Duration.ofMinutes(1).toMillis());
    assertThat(waits.isAlive()).isFalse();
    assertThat(due).isNotDone();
  }

  private Transactions hurried() {
    Transactions transactions =
        new Transactions(
            TestDatabase.MYSQL.database(),
            new Tally(),
            () -> due.complete(Thread.currentThread().getName()),
            "test-rest");
    transactions.run(
        session -> {
          session.prepare(session.opening() + "SELECT 1").execute();
          session.commit();
          return true;
        });
    return transactions;
  }
}
