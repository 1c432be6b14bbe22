package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.LockStore;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What the log says of claims that a store takes neither in nor back. */
class RefusedClaimTest {

  private static final String NOT_GIVEN_BACK = "was not given back";

  private static CompletableFuture<Object> denied() {
    return CompletableFuture.failedFuture(new StoreDeniedException("no right to it"));
  }

  private static String logOf(Runnable work) {
    PrintStream usual = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      work.run();
    } finally {
      System.setErr(usual);
    }
    return said.toString(StandardCharsets.UTF_8);
  }

  /** A thousand refusals in a minute would be a thousand warnings of locks that nobody had. */
  @Test
  void whoIsRefusedIsToldOnceAndTheLogSaysNothingOfALockThatNobodyHad() {
    LockStore store =
        Engines.memory(
            (verb, usual) ->
                Set.of("attempt", "withdraw").contains(verb) ? denied() : usual.call());
    String log =
        logOf(
            () -> {
              try (Pawl pawl = Pawl.over(store)) {
                for (int i = 0; i < 10; i++) {
                  String lock = "refused" + i;
                  assertThatThrownBy(() -> pawl.lock(lock).acquire())
                      .isInstanceOf(StoreDeniedException.class);
                }
              }
            });

    assertThat(log).doesNotContain(NOT_GIVEN_BACK);
  }

  @Test
  void aHoldThatTheStoreDoesNotTakeBackIsToldInTheLog() {
    LockStore store =
        Engines.memory((verb, usual) -> verb.equals("withdraw") ? denied() : usual.call());
    String log =
        logOf(
            () -> {
              try (Pawl pawl = Pawl.over(store)) {
                pawl.lock("held").acquireUninterruptibly().close();
              }
            });

    assertThat(log).contains("'held' " + NOT_GIVEN_BACK);
  }

  @Test
  void anAttemptWithoutAnAnswerIsToldInTheLogWhereItCannotBeGivenBack() {
    AtomicReference<CompletableFuture<Object>> next =
        new AtomicReference<>(
            CompletableFuture.failedFuture(new StoreUnavailableException("no answer")));
    LockStore store =
        Engines.memory(
            (verb, usual) ->
                verb.equals("attempt")
                    ? next.getAndSet(denied())
                    : verb.equals("withdraw") ? denied() : usual.call());
    String log =
        logOf(
            () -> {
              try (Pawl pawl = Pawl.over(store)) {
                assertThatThrownBy(() -> pawl.lock("doubtful").tryAcquire(Duration.ofSeconds(20)))
                    .isInstanceOf(StoreDeniedException.class);
              }
            });

    assertThat(log).contains("'doubtful' " + NOT_GIVEN_BACK);
  }
}
