package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.gateway.Json;
import io.pawl.servers.EtcdServer;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that arrive when their client has long gone on. */
class LateRequestsTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final EtcdServer server = EtcdServer.start(Urls.QUICK);
  private final LateRequests member = member();
  private final EtcdStore store = EtcdStore.connect(member.url());
  private final Seam here = new Seam(store);
  private final EtcdStore near = EtcdStore.connect(Urls.of(server));
  private final Seam other = new Seam(near);

  private LateRequests member() {
    try {
      return new LateRequests(server);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void close() {
    store.close();
    near.close();
    member.close();
    server.close();
  }

  /** Its leader has another term then. */
  private void restart() {
    server.kill();
    server.restart();
  }

  private Map<ClaimId, Standing> renewed(Claim claim) {
    return Seam.answer(store.renew(List.of(claim)));
  }

  private void untilARequestIsLate(Claim claim) {
    await()
        .atMost(PATIENCE)
        .ignoreException(StoreUnavailableException.class)
        .until(
            () -> {
              assertThat(renewed(claim)).doesNotContainValue(Standing.GONE);
              return member.isLate();
            });
    member.goOn();
  }

  private void untilHeld(Claim claim) {
    await()
        .atMost(PATIENCE)
        .ignoreException(StoreUnavailableException.class)
        .until(() -> renewed(claim).get(claim.id()) instanceof Standing.Held);
  }

  private static void untilItAnswers(Runnable verb) {
    await()
        .atMost(PATIENCE)
        .ignoreException(StoreUnavailableException.class)
        .until(
            () -> {
              verb.run();
              return true;
            });
  }

  private void assertThatWhatIsLateChangesNothing() {
    assertThat(member.passOn()).isNotEmpty().noneMatch(answer -> answer.contains("response_put"));
  }

  @Test
  void p1_oneHolder_aMoveThatArrivesAfterALaterOneChangesNothing() {
    Claim held = here.claim("moved");
    here.take(held);
    restart();
    member.keepBackChanges();
    untilARequestIsLate(held);
    restart();
    untilHeld(held);

    assertThatWhatIsLateChangesNothing();

    untilHeld(held);
    Claim next = other.claim("moved");
    untilItAnswers(() -> assertThat(other.attempt(next)).isInstanceOf(Standing.Waiting.class));
  }

  @Test
  void p1_oneHolder_aMoveOfAClaimThatWaitsDoesNotComeLateEither() {
    Claim first = other.claim("line");
    other.take(first);
    Claim waits = here.claim("line");
    here.attempt(waits);
    restart();
    member.keepBackChanges();
    untilARequestIsLate(waits);
    restart();
    await()
        .atMost(PATIENCE)
        .ignoreException(StoreUnavailableException.class)
        .until(() -> renewed(waits).get(waits.id()) instanceof Standing.Waiting);

    assertThatWhatIsLateChangesNothing();
  }

  @Test
  void p1_oneHolder_aLeaseForAShortestHoldThatIsOverIsNotPutOnLate() {
    Duration lease = Duration.ofSeconds(20);
    here.take(here.claim("warm", Mode.EXCLUSIVE, lease));
    Claim claim = here.claim("shortest", Mode.EXCLUSIVE, lease).withMinHold(lease.plusSeconds(1));
    member.keepBackChanges();
    assertThatThrownBy(() -> here.attempt(claim)).isInstanceOf(StoreUnavailableException.class);
    member.goOn();
    long from = System.nanoTime();
    await().atMost(PATIENCE).until(() -> System.nanoTime() - from > 1_500_000_000L);
    here.take(claim); // promises more than its shortest hold

    assertThatWhatIsLateChangesNothing();
  }

  @Test
  void p1_oneHolder_aDowngradeThatWasNotAnsweredIsNotDoneOnceTheClaimWasToldHeld() {
    Claim claim = here.claim("downgraded");
    here.take(claim);
    member.keepBackChanges();
    assertThatThrownBy(() -> here.attempt(claim.as(Mode.SHARED)))
        .isInstanceOf(StoreUnavailableException.class);
    member.goOn();
    untilHeld(claim);

    assertThatWhatIsLateChangesNothing();

    assertThat(other.attempt(other.claim("downgraded", Mode.SHARED, Seam.LEASE)))
        .isInstanceOf(Standing.Waiting.class);
    assertThat(here.attempt(claim.as(Mode.SHARED))).isInstanceOf(Standing.Held.class);
    assertThat(other.attempt(other.claim("downgraded", Mode.SHARED, Seam.LEASE)))
        .isInstanceOf(Standing.Held.class);
  }

  @Test
  void p6_someoneGetsIn_thoughALateAttemptMakesAnEvictedClaimAgain() {
    here.take(here.claim("warm"));
    Claim claim = here.claim("again");
    member.keepBack();
    assertThatThrownBy(() -> here.attempt(claim)).isInstanceOf(StoreUnavailableException.class);
    member.goOn();
    untilItAnswers(() -> here.take(claim));
    long token = here.take(claim).token();
    assertThat(Seam.answer(near.evict("again", token))).isTrue();
    member.passOn();

    await().atMost(PATIENCE).until(() -> renewed(claim).get(claim.id()) instanceof Standing.Gone);

    Claim next = other.claim("again");
    await().atMost(PATIENCE).until(() -> other.attempt(next) instanceof Standing.Held);
  }

  /** As of a proxy that repeats requests: it stands in the way, for as long as is documented. */
  @Test
  void p1_oneHolder_aLateCopyOfAnAnsweredAttemptIsNobodysHold() {
    Claim warm = here.claim("warm");
    here.take(warm);
    Claim claim = here.claim("copied");
    member.copy();
    here.take(claim);
    member.goOn();
    here.withdraw(claim);
    assertThat(member.passOn()).anyMatch(answer -> answer.contains("response_put"));

    here.withdraw(warm);
    assertThat(here.renew(claim)).isEqualTo(Standing.GONE);
    Claim next = other.claim("copied");
    assertThat(other.attempt(next)).isInstanceOf(Standing.Waiting.class);
    store.close();
    assertThat(other.renew(next)).isInstanceOf(Standing.Held.class);
  }

  @Test
  void aShortestHoldWhoseWithdrawalFailedOutlastsTheClosing() {
    Claim claim = here.claim("closing").withMinHold(Duration.ofSeconds(20));
    here.take(claim);
    member.keepBack();
    assertThatThrownBy(() -> here.withdraw(claim)).isInstanceOf(StoreUnavailableException.class);

    store.close();

    assertThat(other.attempt(other.claim("closing"))).isInstanceOf(Standing.Waiting.class);
  }

  /**
   * As a member says that is being stopped, and one whose quota is passed by the request itself.
   */
  @ParameterizedTest
  @CsvSource({
    "408, context canceled",
    "499, context canceled",
    "429, etcdserver: mvcc: database space exceeded"
  })
  void anAnswerThatIsNoCertainRefusalLeavesTheOutcomeOpen(int status, String message) {
    here.take(here.claim("warm"));
    Claim claim = here.claim("late");
    member.keepBackAndAnswer(status, message);
    assertThatThrownBy(() -> here.attempt(claim))
        .satisfies(
            error ->
                assertThat(error instanceof StoreUnavailableException).isEqualTo(status != 429));
    member.goOn();
    untilItAnswers(() -> here.withdraw(claim.asUnsettled()));
    ServerFaultsTest.deleteAll(server, "pawl/withdrawn/");

    assertThatWhatIsLateChangesNothing();

    other.take(other.claim("late"));
  }

  /**
   * A client whose rights are gone for an hour does not ask for ever after each claim it wanted.
   */
  @Test
  void p8_nothingLeftBehind_claimsThatWereAllRefusedAreWithdrawnWithoutAnybodysConsent()
      throws Exception {
    here.take(here.claim("warm"));
    member.keepBackAndAnswer(403, "etcdserver: permission denied");
    for (int i = 0; i < 5; i++) {
      Claim refused = here.claim("refused" + i);
      assertThatThrownBy(() -> here.attempt(refused)).isInstanceOf(StoreDeniedException.class);
      here.withdraw(refused.asUnsettled());
    }

    int asked = member.kept();
    Thread.sleep(2_500); // longer than an end that failed waits to be repeated
    assertThat(member.kept()).isEqualTo(asked);
    member.goOn();
    other.take(other.claim("refused0"));
  }

  /** Of a claim that was granted meanwhile: what becomes of it travels on other connections. */
  private Map<ClaimId, Standing> answeredAfter(
      Claim first, Claim waits, EtcdStore patient, Runnable granted) {
    CompletableFuture<Void> answers = new CompletableFuture<>();
    member.keepBackTheAnswer(answers);
    CompletionStage<Map<ClaimId, Standing>> renewal = patient.renew(List.of(waits));
    await().atMost(PATIENCE).until(member::hasKeptTheAnswerBack);
    other.withdraw(first);
    await()
        .atMost(PATIENCE)
        .until(() -> Seam.answer(patient.attempt(waits, bell -> {})) instanceof Standing.Held);
    granted.run();
    answers.complete(null);
    return Seam.answer(renewal);
  }

  @Test
  void aLookThatIsAnsweredAfterADowngradeIsReadAsWhatItWas() {
    Claim first = other.claim("late");
    other.take(first);
    try (EtcdStore patient = EtcdStore.connect(member.url().replace("=1s", "=20s"))) {
      Seam seam = new Seam(patient);
      Claim waits = seam.claim("late");
      assertThat(seam.attempt(waits)).isInstanceOf(Standing.Waiting.class);

      Map<ClaimId, Standing> late =
          answeredAfter(
              first,
              waits,
              patient,
              () ->
                  assertThat(seam.attempt(waits.as(Mode.SHARED)))
                      .isInstanceOf(Standing.Held.class));

      assertThat(late.get(waits.id())).isInstanceOf(Standing.Waiting.class);
    }
  }

  @Test
  void aLookThatIsAnsweredAfterTheGrantTakesNoShortestHoldAway() {
    Claim first = other.claim("late");
    other.take(first);
    EtcdStore patient = EtcdStore.connect(member.url().replace("=1s", "=20s"));
    try (patient) {
      Seam seam = new Seam(patient);
      Duration lease = Duration.ofSeconds(2);
      Claim waits = seam.claim("late", Mode.EXCLUSIVE, lease).withMinHold(Duration.ofMinutes(1));
      assertThat(seam.attempt(waits)).isInstanceOf(Standing.Waiting.class);

      answeredAfter(first, waits, patient, () -> {});
    }

    Claim next = other.claim("late");
    assertThat(other.attempt(next)).isInstanceOf(Standing.Waiting.class);
    Bench.passed(System.nanoTime(), Duration.ofSeconds(6)); // whatever it shared has run out
    assertThat(other.renew(next)).isInstanceOf(Standing.Waiting.class);
  }

  /** It leaves its own lease once the shared one lasts for longer than its shortest hold. */
  @Test
  void aClaimThatWasGivenBackMeanwhileIsNotMovedToTheSharedLease() {
    Duration lease = Duration.ofSeconds(10);
    try (EtcdStore patient = EtcdStore.connect(member.url().replace("=1s", "=20s"))) {
      Seam seam = new Seam(patient);
      Claim claim = seam.claim("moved", Mode.EXCLUSIVE, lease).withMinHold(lease.plusMillis(500));
      seam.take(claim);
      String key = new Keys("pawl").claim("moved", Mode.EXCLUSIVE, claim.id());
      Bench.passed(System.nanoTime(), Duration.ofSeconds(1));
      CompletableFuture<Void> passes = new CompletableFuture<>();
      member.keepBackTheChange(passes);
      CompletionStage<Map<ClaimId, Standing>> renewal = patient.renew(List.of(claim));
      await().atMost(PATIENCE).until(member::hasKeptTheChangeBack);
      seam.withdraw(claim);
      String left = server.post("/v3/kv/range", keyOf(key));

      passes.complete(null);

      assertThat(Seam.answer(renewal)).containsEntry(claim.id(), Standing.GONE);
      assertThat(Json.objects(Json.object(server.post("/v3/kv/range", keyOf(key))), "kvs"))
          .isNotEmpty()
          .isEqualTo(Json.objects(Json.object(left), "kvs"));
    }
  }

  private static String keyOf(String key) {
    return "{\"key\":\"" + ServerFaultsTest.base64(key) + "\"}";
  }

  @Test
  void p3_fencedSafety_aWriteThatWasNotAnsweredIsNotDoneAfterALaterOne() {
    try (EtcdFence fence = EtcdFence.connect(member.url())) {
      fence.write("report", "first", 7);
      member.keepBack();
      assertThatThrownBy(() -> fence.write("report", "second", 7))
          .isInstanceOf(StoreUnavailableException.class);
      member.goOn();
      untilItAnswers(() -> fence.write("report", "third", 7));

      assertThatWhatIsLateChangesNothing();
    }
  }
}
