package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.pawl.error.StoreUnavailableException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/** Asks a store for something in a row that the test keeps locked. */
final class OnceFree {

  private static final int MOST_TRIES = 60;

  private OnceFree() {}

  /**
   * Asks again as the engine does: a statement waits for a row for a second, and a machine that
   * stands still takes longer for what a test does meanwhile.
   */
  static <T> T ask(Supplier<CompletionStage<T>> question) throws Exception {
    for (int tries = 1; ; tries++) {
      try {
        return question.get().toCompletableFuture().get(60, SECONDS);
      } catch (ExecutionException e) {
        if (!(e.getCause() instanceof StoreUnavailableException) || tries == MOST_TRIES) {
          throw e;
        }
      }
    }
  }
}
