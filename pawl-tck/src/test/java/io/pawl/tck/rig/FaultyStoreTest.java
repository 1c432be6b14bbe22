package io.pawl.tck.rig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import io.pawl.tck.rig.SeamClient.RecordingBell;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class FaultyStoreTest {

  private final SeamClient behind = new SeamClient(new MemoryStore());
  private final FaultyStore faulty = new FaultyStore(behind.store());
  private final SeamClient client = new SeamClient(faulty);
  private final Claim claim = client.ask("lock").claim();

  @Test
  void aLostRequestIsNotApplied() {
    faulty.next(Verb.ATTEMPT, Fault.LOSE_REQUEST);

    assertThatThrownBy(() -> client.attempt(claim)).isInstanceOf(StoreUnavailableException.class);

    assertThat(behind.renew(claim)).isEqualTo(Standing.GONE);
    assertThat(client.attempt(claim)).isInstanceOf(Standing.Held.class);
  }

  @Test
  void aLostReplyIsOfARequestThatWasApplied() {
    faulty.next(Verb.ATTEMPT, Fault.LOSE_REPLY);

    assertThatThrownBy(() -> client.attempt(claim)).isInstanceOf(StoreUnavailableException.class);

    assertThat(faulty.lostReplies()).isEqualTo(List.of(behind.renew(claim)));
  }

  @Test
  void aHeldRequestIsAppliedWhenResumed() {
    faulty.next(Verb.ATTEMPT, Fault.HOLD_REQUEST);
    CompletableFuture<Standing> answer =
        faulty.attempt(claim, standing -> {}).toCompletableFuture();
    assertThat(behind.renew(claim)).isEqualTo(Standing.GONE);

    faulty.resume();

    assertThat(answer).isCompletedWithValue(behind.renew(claim));
  }

  @Test
  void aHeldReplyIsOfARequestThatWasApplied() {
    faulty.next(Verb.ATTEMPT, Fault.HOLD_REPLY);
    CompletableFuture<Standing> answer =
        faulty.attempt(claim, standing -> {}).toCompletableFuture();
    Standing standing = behind.renew(claim);
    assertThat(standing).isInstanceOf(Standing.Held.class);
    assertThat(answer).isNotDone();
    assertThat(faulty.calls(Verb.ATTEMPT)).isEqualTo(1);
    assertThat(faulty.answers(Verb.ATTEMPT)).isZero();

    faulty.resume();

    assertThat(answer).isCompletedWithValue(standing);
    assertThat(faulty.answers(Verb.ATTEMPT)).isEqualTo(1);
  }

  @Test
  void bellsAreLostUntilItIsHealed() {
    SeamClient.Hold hold = behind.take("lock");
    RecordingBell lost = new RecordingBell();
    RecordingBell heard = new RecordingBell();
    client.attempt(claim, lost);
    client.attempt(client.ask("lock").claim(), heard);

    faulty.loseBells();
    behind.withdraw(hold);
    faulty.heal();
    behind.withdraw(claim);

    assertThat(lost.rings()).isEmpty();
    assertThat(heard.hasRungHeld()).isTrue();
  }

  @Test
  void aFaultOfEveryCallLastsUntilItIsHealed() {
    faulty.on(Verb.RENEW, Fault.DENY).next(Verb.RENEW, Fault.NONE);
    assertThat(client.renew(claim)).isEqualTo(Standing.GONE);
    assertThatThrownBy(() -> client.renew(claim)).isInstanceOf(StoreDeniedException.class);
    assertThatThrownBy(() -> client.renew(claim)).isInstanceOf(StoreDeniedException.class);

    faulty.heal();

    assertThat(client.renew(claim)).isEqualTo(Standing.GONE);
  }

  @Test
  void withoutAFaultItIsAsTheStoreBehindIt() {
    List<String> asked = new ArrayList<>();
    LockStore another =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class},
                (proxy, method, arguments) -> {
                  asked.add(method.getName());
                  return switch (method.getName()) {
                    case "renewGroup" -> 7;
                    case "answerTime" -> Duration.ofSeconds(3);
                    default -> null;
                  };
                });
    FaultyStore passing = new FaultyStore(another);

    assertThat(passing.renewGroup(claim)).isEqualTo(7);
    assertThat(passing.answerTime()).isEqualTo(Duration.ofSeconds(3));
    assertThat(passing.hasCounters()).isFalse();
    passing.awaited(() -> {});
    passing.together(() -> {});
    assertThat(asked).contains("awaited", "together");
  }
}
