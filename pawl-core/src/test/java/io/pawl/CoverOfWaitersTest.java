package io.pawl;

import static io.pawl.ScriptedStore.WAITING;
import static io.pawl.ScriptedStore.held;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/**
 * For how long a waiter that is granted the lock trusts it: half of its long lease was promised.
 */
class CoverOfWaitersTest {

  private static final Duration LEASE = Duration.ofSeconds(30);

  /** Runs callbacks at once, unless the test puts them off. */
  private Executor callbacks = Runnable::run;

  private final ScriptedClient client =
      new ScriptedClient(
          PawlOptions.defaults().patience(Duration.ofMinutes(5)), task -> callbacks.execute(task));
  private final ScriptedStore store = client.store();
  private final DistributedLock lock =
      new DistributedLock(client.engine(), "lock", LockOptions.defaults().lease(LEASE));
  private final CompletableFuture<Optional<Lease>> future =
      lock.tryAcquireAsync(Duration.ofDays(1));

  /** Waits and asks, is answered, and asks again: at about 16 s. */
  private void waitForAQuestionWithoutAnswer() {
    store.attempt(0).answer().complete(WAITING);
    int answered = 0;
    for (int second = 0; second < 15; second++) {
      client.pass(Duration.ofSeconds(1));
      for (; answered < store.renewals.size() && second < 14; answered++) {
        store.renewals.get(answered).answerAll(WAITING);
      }
    }
    for (int pause = 0; pause < 50 && store.renewals.size() == answered; pause++) {
      client.pass(Duration.ofMillis(100));
    }
    assertThat(store.renewals).hasSize(answered + 1);
  }

  private ScriptedStore.Renewal lastQuestion() {
    return store.renewals.get(store.renewals.size() - 1);
  }

  private void ring() {
    store.attempt(0).bell().ring(held(1));
    client.pass(Duration.ZERO);
  }

  @Test
  void p1_oneHolder_anAnswerThatTheBellOvertookCoversNoMoreThanTheStoreKeeps() {
    waitForAQuestionWithoutAnswer();
    ring();
    Lease lease = future.join().orElseThrow();
    lastQuestion().answerAll(WAITING);
    client.pass(LEASE.dividedBy(2).minusSeconds(1));
    assertThat(lease.isValid()).isTrue();

    client.pass(Duration.ofSeconds(1));

    assertThat(lease.isValid()).isFalse();
  }

  @Test
  void aGrantIsRenewedAtOnce() {
    waitForAQuestionWithoutAnswer();
    lastQuestion().answerAll(WAITING);
    int before = store.renewals.size();

    ring();
    client.pass(Duration.ofMillis(20));

    assertThat(future.join().orElseThrow().isValid()).isTrue();
    assertThat(store.renewals).hasSize(before + 1);
  }

  @Test
  void aBellAfterLongSilenceIsAReasonToAskAndNoGrantIsGivenBack() {
    waitForAQuestionWithoutAnswer();
    client.pass(LEASE.dividedBy(2));
    ring();
    assertThat(future).isNotDone();

    lastQuestion().answerAll(held(1));
    client.pass(Duration.ZERO);

    assertThat(future.join()).map(Lease::token).contains(1L);
    assertThat(store.withdrawals).isEmpty();
  }

  @Test
  void aCallbackThatDoesNotReturnDelaysTheOthersUntilTheClaimHasRunOut() {
    waitForAQuestionWithoutAnswer();
    lastQuestion().answerAll(WAITING);
    ring();
    Lease lease = future.join().orElseThrow();
    List<Runnable> putOff = new ArrayList<>();
    callbacks = putOff::add;
    lease.onLost(() -> {});

    client.pass(LEASE.minusSeconds(1));
    assertThat(putOff).as("the loss is told").isNotEmpty();
    assertThat(store.withdrawals).isEmpty();

    client.pass(Duration.ofSeconds(1));
    assertThat(store.withdrawals).hasSize(1);
  }
}
