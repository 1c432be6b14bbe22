package io.pawl;

import static io.pawl.ScriptedStore.WAITING;
import static io.pawl.ScriptedStore.held;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store that is at work for others, as a SQLite file with a queue of writers, is not silent. */
class QueueingStoreTest {

  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(30));
  private static final Duration LONGER_THAN_SILENCE = Duration.ofSeconds(3);
  private static final Duration LONGEST = Duration.ofSeconds(5);
  private static final Duration UNTIL_IT_LOOKS_AGAIN = Duration.ofMillis(50);

  private final ScriptedClient client = new ScriptedClient(PawlOptions.defaults());
  private final ScriptedStore store = client.store();
  private final DistributedLock lock = new DistributedLock(client.engine(), "lock", OPTIONS);

  @BeforeEach
  void letItServeOthers() {
    store.servesOthers = true;
  }

  @Test
  void whoDoesNotWaitHearsItsAnswerLate() {
    CompletableFuture<Optional<Lease>> granted = lock.tryAcquireAsync(Duration.ZERO);
    client.pass(LONGER_THAN_SILENCE);
    assertThat(granted).isNotDone();

    store.attempt(0).answer().complete(held(7));
    client.pass(Duration.ZERO);

    assertThat(granted.join()).map(Lease::token).contains(7L);
  }

  @Test
  void aWaitThatIsOverHearsThatItIsBusy() {
    CompletableFuture<Optional<Lease>> busy = lock.tryAcquireAsync(Duration.ofMillis(10));
    client.pass(LONGER_THAN_SILENCE);
    assertThat(busy).isNotDone();

    store.attempt(0).answer().complete(WAITING);
    client.pass(UNTIL_IT_LOOKS_AGAIN);

    assertThat(busy.join()).isEmpty();
  }

  @Test
  void nobodyWaitsForItForLongerThanFiveSeconds() {
    CompletableFuture<Optional<Lease>> future = lock.tryAcquireAsync(Duration.ZERO);
    client.pass(LONGEST.minus(UNTIL_IT_LOOKS_AGAIN));
    assertThat(future).isNotDone();

    client.pass(UNTIL_IT_LOOKS_AGAIN.multipliedBy(2));

    assertThatItWasSilent(future);
    assertThat(store.withdrawals).singleElement().matches(claim -> claim.unsettled());
  }

  @Test
  void aWaitThatIsOverEndsOnceTheStoreStandsStill() {
    CompletableFuture<Optional<Lease>> future = lock.tryAcquireAsync(Duration.ofMillis(10));
    client.pass(LONGER_THAN_SILENCE);
    assertThat(future).isNotDone();

    store.servesOthers = false;
    client.pass(UNTIL_IT_LOOKS_AGAIN);

    assertThatItWasSilent(future);
  }

  @Test
  void aGroupGoesOnAsLong() {
    CompletableFuture<Optional<GroupLease>> future =
        new LockGroup(client.engine(), List.of("a", "b"), OPTIONS).tryAcquireAsync(Duration.ZERO);
    client.pass(LONGER_THAN_SILENCE);
    assertThat(future).isNotDone();

    client.pass(LONGEST);

    assertThatItWasSilent(future);
  }

  private static void assertThatItWasSilent(CompletableFuture<?> future) {
    assertThat(future)
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(StoreUnavailableException.class);
  }
}
