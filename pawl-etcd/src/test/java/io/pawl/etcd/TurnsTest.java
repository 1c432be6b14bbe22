package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which requests of one client for one lock wait for which. */
class TurnsTest {

  private static final Holder NOBODY = new Holder("host", 1, "thread", "", "");

  private final Deadlines deadlines = new Deadlines("store", Duration.ofMinutes(1).toNanos());
  private final Turns turns = new Turns(deadlines);

  @AfterEach
  void close() {
    deadlines.close();
  }

  private static Claim claim(int number, boolean queues) {
    return new Claim(
        "lock",
        new ClaimId("client", number),
        Mode.EXCLUSIVE,
        Seam.LEASE,
        Duration.ZERO,
        queues,
        1,
        0,
        false,
        NOBODY);
  }

  /** A request that was made, and the answer that its test gives. */
  private static final class Asked {
    final CompletableFuture<Void> answer = new CompletableFuture<>();
    boolean begun;

    CompletableFuture<Void> begin() {
      begun = true;
      return answer;
    }
  }

  private Asked attempt(Claim claim) {
    Asked asked = new Asked();
    turns.attempt(claim, asked::begin);
    return asked;
  }

  private Asked withdraw(Claim claim) {
    Asked asked = new Asked();
    turns.withdrawal(claim, asked::begin);
    return asked;
  }

  /** Of memory, say. */
  @Test
  void anErrorAmidARequestKeepsNobodyBehindItWaiting() {
    CompletableFuture<Void> unheard =
        new CompletableFuture<>() {
          @Override
          public <U> CompletableFuture<U> handle(
              BiFunction<? super Void, Throwable, ? extends U> next) {
            throw new OutOfMemoryError("of a test");
          }
        };
    Asked first = attempt(claim(0, true));
    CompletableFuture<Void> second = turns.attempt(claim(1, true), () -> unheard);
    Asked third = attempt(claim(2, true));

    first.answer.complete(null);

    assertThat(second).isCompletedExceptionally();
    assertThat(third.begun).isTrue();
  }

  @Test
  void aReleaseDoesNotWaitForThoseWhoJoinTheQueue() {
    Asked joins = attempt(claim(1, true));

    assertThat(withdraw(claim(0, true)).begun).isTrue();
    assertThat(joins.begun).isTrue();
  }

  @Test
  void aReleaseDoesNotWaitForAThousandWhoJoinTheQueue() {
    for (int i = 1; i <= 1_000; i++) {
      attempt(claim(i, true));
    }

    assertThat(withdraw(claim(0, true)).begun).isTrue();
  }

  @Test
  void attemptsTakeEffectOneAfterAnother() {
    Asked first = attempt(claim(1, true));
    Asked released = withdraw(claim(0, true));
    Asked second = attempt(claim(2, true));

    first.answer.complete(null);
    assertThat(second.begun).isFalse();
    released.answer.complete(null);
    assertThat(second.begun).isTrue();
  }

  @Test
  void aWithdrawalWaitsForTheAttemptOfItsClaim() {
    Asked joins = attempt(claim(1, true));
    Asked leaves = withdraw(claim(1, true));
    assertThat(leaves.begun).isFalse();

    joins.answer.complete(null);

    assertThat(leaves.begun).isTrue();
  }

  @Test
  void aReleaseIsNotFoundByAnAttemptBeforeItThatDoesNotQueue() {
    Asked tries = attempt(claim(1, false));
    Asked released = withdraw(claim(0, true));
    assertThat(released.begun).isFalse();

    tries.answer.complete(null);

    assertThat(released.begun).isTrue();
  }

  @Test
  void whoeverIsToldAnAnswerFindsNobodyBefore() {
    Asked released = new Asked();
    AtomicBoolean begun = new AtomicBoolean();
    turns
        .withdrawal(claim(0, true), released::begin)
        .thenRun(() -> begun.set(attempt(claim(1, true)).begun));

    released.answer.complete(null);

    assertThat(begun).isTrue();
  }

  @Test
  void whoeverFailedAndIsToldSoFindsNobodyBefore() {
    Asked failed = new Asked();
    AtomicBoolean begun = new AtomicBoolean();
    turns
        .attempt(claim(0, true), failed::begin)
        .whenComplete((nothing, error) -> begun.set(attempt(claim(1, true)).begun));

    failed.answer.completeExceptionally(new IllegalStateException("refused"));

    assertThat(begun).isTrue();
  }
}
