package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.GroupLease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import io.pawl.tck.FaultyStore;
import io.pawl.tck.FaultyStore.Fault;
import io.pawl.tck.FaultyStore.Verb;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several locks at once, through both parts. */
class TogetherTest {

  private static final GateOptions PATIENT =
      GateOptions.defaults().gatePatience(Duration.ofSeconds(10));

  @TempDir Path folder;

  /** Requests to one Redis leave when the thread has asked all of them, and the other's too. */
  @Test
  void aGateOfTheSameKindAsTheTruthIsNotLeftOut() throws Exception {
    try (RedisServer redis = RedisServer.start();
        LockStore gate = Servers.open(redis.url() + "/1");
        LockStore truth = Servers.open(redis.url() + "/2");
        GateStore store = GateStore.over(gate, truth, PATIENT);
        Pawl pawl = Pawl.over(store)) {
      for (int i = 0; i < 3; i++) {
        try (GroupLease group = pawl.lockAll("a", "b", "c").acquire()) {
          assertThat(group.isValid()).isTrue();
          assertThat(pawl.lock("b").tryAcquire()).isEmpty();
        }
      }
      assertThat(store.isGateAway()).isFalse();
      assertThat(pawl.lock("b").tryAcquire()).isPresent();
    }
  }

  @Test
  void theTruthServesOthersWhileAGroupAsksTheGate() throws Exception {
    FaultyStore toGate = new FaultyStore(new MemoryStore());
    try (LockStore truth = Servers.open("sqlite:" + folder.resolve("truth.db"));
        GateStore store = GateStore.over(toGate, truth, PATIENT);
        Pawl pawl = Pawl.over(store)) {
      toGate.next(Verb.ATTEMPT, Fault.HOLD_REQUEST, Fault.HOLD_REQUEST);
      CompletableFuture<?> group =
          CompletableFuture.runAsync(
              () -> pawl.lockAll("a", "b").tryAcquire().orElseThrow().close());
      await().until(() -> toGate.calls(Verb.ATTEMPT) == 2);

      Claim other = Seam.claim("other");
      assertThat(Seam.answer(truth.attempt(other, rung -> {}))).isInstanceOf(Standing.Held.class);

      assertThat(group).isNotDone();
      assertThat(store.isGateAway()).isFalse();
      toGate.resume();
      group.get(20, TimeUnit.SECONDS);
      assertThat(Seam.answer(truth.renew(List.of(other)))).hasSize(1);
    } finally {
      toGate.close();
    }
  }
}
