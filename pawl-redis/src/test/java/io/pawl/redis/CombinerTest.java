package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisURI;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests made while others are on their way share commands, and nothing else. */
class CombinerTest {

  private static final int CLAIMS = 100;

  private final RedisServer server = RedisServer.start();
  private final RedisStore store = RedisStore.connect(server.url() + "?timeout=20s");
  private final Seam seam = new Seam(store);

  @BeforeEach
  void loadScripts() {
    Claim claim = seam.claim("load");
    seam.take(claim);
    seam.withdraw(claim);
  }

  @AfterEach
  void close() {
    store.close();
    server.close();
  }

  /** All made before the server answers any. */
  private <T> List<CompletionStage<T>> meanwhile(List<Supplier<CompletionStage<T>>> requests) {
    server.pause();
    List<CompletionStage<T>> stages = requests.stream().map(Supplier::get).toList();
    server.resume();
    return stages;
  }

  private CompletionStage<Standing> attempt(Claim claim) {
    return store.attempt(claim, standing -> {});
  }

  private List<Claim> claims(String lock) {
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < CLAIMS; i++) {
      claims.add(seam.claim(lock + i));
    }
    return claims;
  }

  private List<Standing> takeAll(List<Claim> claims) {
    List<Supplier<CompletionStage<Standing>>> requests = new ArrayList<>();
    claims.forEach(claim -> requests.add(() -> attempt(claim)));
    return meanwhile(requests).stream().map(Seam::answer).toList();
  }

  @Test
  void aHundredClaimsTakeFewCommandsEachWay() {
    List<Claim> claims = claims("many");
    Commands before = Commands.of(server);

    assertThat(takeAll(claims)).allMatch(Standing.Held.class::isInstance);
    List<Supplier<CompletionStage<Void>>> ends = new ArrayList<>();
    claims.forEach(claim -> ends.add(() -> store.withdraw(claim)));
    meanwhile(ends).forEach(Seam::answer);

    assertThat(Commands.of(server).since(before).get("evalsha")).isLessThanOrEqualTo(12L);
    assertThat(takeAll(claims("many"))).allMatch(Standing.Held.class::isInstance);
  }

  /** As releases in the background are, each with its thread's next attempt behind it. */
  @Test
  void releasesAndTheAttemptsBehindThemTakeFewCommands() {
    List<Claim> held = claims("turn");
    assertThat(takeAll(held)).allMatch(Standing.Held.class::isInstance);
    List<Claim> next = claims("turn");
    Commands before = Commands.of(server);

    List<Supplier<CompletionStage<?>>> requests = new ArrayList<>();
    for (int i = 0; i < CLAIMS; i++) {
      Claim first = held.get(i);
      Claim second = next.get(i);
      requests.add(() -> store.withdraw(first));
      requests.add(() -> attempt(second));
    }
    server.pause();
    List<CompletionStage<?>> stages = new ArrayList<>();
    requests.forEach(request -> stages.add(request.get()));
    server.resume();

    for (int i = 1; i < stages.size(); i += 2) {
      assertThat(Seam.answer(stages.get(i))).isInstanceOf(Standing.Held.class);
    }
    assertThat(Commands.of(server).since(before).get("evalsha")).isLessThanOrEqualTo(12L);
  }

  @Test
  void whatIsAskedTogetherLeavesInOneCommand() {
    List<Claim> claims = claims("group").subList(0, 8);
    Commands before = Commands.of(server);

    List<CompletionStage<?>> stages = new ArrayList<>();
    store.together(() -> claims.forEach(claim -> stages.add(attempt(claim))));
    assertThat(stages.stream().map(Seam::answer)).allMatch(Standing.Held.class::isInstance);
    assertThat(Commands.of(server).since(before)).containsEntry("evalsha", 1L);

    stages.clear();
    store.together(() -> claims.forEach(claim -> stages.add(store.withdraw(claim))));
    stages.forEach(Seam::answer);
    assertThat(Commands.of(server).since(before)).containsEntry("evalsha", 2L);
  }

  @Test
  void requestsForALockTakeEffectInTheirOrder() {
    List<Supplier<CompletionStage<?>>> requests = new ArrayList<>();
    for (int i = 0; i < CLAIMS; i++) {
      Claim here = seam.claim("here");
      Claim there = seam.claim("there");
      requests.add(() -> attempt(here));
      requests.add(() -> attempt(there));
      requests.add(() -> store.withdraw(here));
      requests.add(() -> store.withdraw(there));
    }
    server.pause();
    List<CompletionStage<?>> stages = new ArrayList<>();
    requests.forEach(request -> stages.add(request.get()));
    server.resume();

    long[] last = new long[2];
    for (int i = 0; i < stages.size(); i += 2) {
      for (int lock = 0; lock < 2; lock++) {
        if (Seam.answer(stages.get(i + lock)) instanceof Standing standing) {
          assertThat(standing).isInstanceOf(Standing.Held.class);
          assertThat(((Standing.Held) standing).token()).isGreaterThan(last[lock]);
          last[lock] = ((Standing.Held) standing).lastToken();
        }
      }
    }
    assertThat(Seam.answer(store.list(10))).allMatch(lock -> lock.holders().isEmpty());
  }

  /** The server has the script of the attempt, and not yet that of the release before it. */
  @Test
  void requestsForALockKeepTheirOrderThoughTheScriptOfTheFirstIsMissing() {
    server.call("SCRIPT", "FLUSH");
    Claim held = seam.claim("order");
    seam.take(held);

    List<CompletionStage<Standing>> next = new ArrayList<>();
    store.together(
        () -> {
          store.withdraw(held);
          next.add(attempt(impatient("order")));
        });

    assertThat(Seam.answer(next.get(0))).isInstanceOf(Standing.Held.class);
  }

  /**
   * The release stands in a command with one that fails, and is asked for again without it: at
   * once, or with others before them after the half that has both has failed too.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 2, 6})
  void requestsForALockKeepTheirOrderThoughTheFirstSharedACommandWithABadKey(int others) {
    Claim held = seam.claim("order");
    seam.take(held);
    Claim bad = seam.claim("bad");
    server.call("SET", Keys.of(bad.lock()), "data");

    List<CompletionStage<Standing>> next = new ArrayList<>();
    store.together(
        () -> {
          claims("other").subList(0, others).forEach(store::withdraw);
          store.withdraw(bad);
          store.withdraw(held);
          next.add(attempt(impatient("order")));
        });

    assertThat(Seam.answer(next.get(0))).isInstanceOf(Standing.Held.class);
  }

  /** A release that is repeated behind an attempt has rung the first time. */
  @Test
  void aBellRingsThoughItsCommandIsRepeated() {
    Claim held = seam.claim("bell");
    seam.take(held);
    Commands before = Commands.of(server);
    CompletableFuture<Standing> rung = new CompletableFuture<>();
    assertThat(Seam.answer(store.attempt(seam.claim("bell"), rung::complete)))
        .isInstanceOf(Standing.Waiting.class);
    // the one question that its subscription asks
    await().until(() -> Commands.of(server).since(before).containsKey("eval"));
    server.call("SCRIPT", "FLUSH");
    seam.withdraw(seam.claim("load"));

    store.together(
        () -> {
          attempt(seam.claim("other"));
          store.withdraw(held);
        });

    assertThat(Seam.answer(rung)).isInstanceOf(Standing.Held.class);
  }

  private Claim impatient(String lock) {
    Claim claim = seam.claim(lock);
    return new Claim(
        lock,
        claim.id(),
        claim.mode(),
        Seam.LEASE,
        Duration.ZERO,
        false,
        1,
        0,
        false,
        claim.holder());
  }

  @Test
  void oneBadKeyFailsItsOwnClaimAlone() {
    List<Claim> claims = claims("bad");
    Claim bad = claims.get(CLAIMS / 2);
    server.call("SET", Keys.of(bad.lock()), "data");
    List<Supplier<CompletionStage<Standing>>> requests = new ArrayList<>();
    claims.forEach(claim -> requests.add(() -> attempt(claim)));

    List<CompletionStage<Standing>> stages = meanwhile(requests);

    for (int i = 0; i < CLAIMS; i++) {
      CompletionStage<Standing> stage = stages.get(i);
      if (claims.get(i) == bad) {
        assertThatThrownBy(() -> Seam.answer(stage))
            .isInstanceOf(StoreConfigurationException.class)
            .hasMessageContaining("pawl:lock:");
      } else {
        assertThat(Seam.answer(stage)).isInstanceOf(Standing.Held.class);
      }
    }
    Map<ClaimId, Standing> renewed = Seam.answer(store.renew(claims));
    assertThat(renewed).hasSize(CLAIMS - 1).doesNotContainKey(bad.id());
    assertThat(renewed.values()).allMatch(Standing.Held.class::isInstance);
  }

  /** Those under way are answered late; those behind them are too old by then to be sent. */
  @Test
  void aRequestThatWaitedTooLongFailsUnsent() {
    RedisURI uri = RedisURI.create(server.url());
    RedisClient client = RedisClient.create(uri);
    Servers one = new OneServer(client, uri, false, List.of(), "redis://late");
    Failures failures = new Failures(one.describe());
    AtomicLong nanos = new AtomicLong();
    long timeoutNanos = Duration.ofSeconds(2).toNanos();
    try (Wire wire = Handshake.another(one, failures, RedisOptions.defaults(), false)) {
      Combiner combiner =
          new Combiner(
              new Verbs(wire, failures), "", timeoutNanos, nanos::get, (reply, rings) -> {});
      Scripts.Script show = Scripts.load().show();
      List<CompletableFuture<List<Object>>> answers = new ArrayList<>();
      server.pause();
      for (int i = 0; i < CLAIMS; i++) {
        answers.add(combiner.run(show, 0, Keys.of("late" + i), List.of()));
      }
      nanos.addAndGet(timeoutNanos);
      server.resume();

      assertThat(answers.get(0)).succeedsWithin(Duration.ofSeconds(20));
      assertThat(answers.get(CLAIMS - 1))
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableThat()
          .withCauseInstanceOf(StoreUnavailableException.class)
          .matches(error -> ((StoreUnavailableException) error.getCause()).isUnsent());
      assertThat(combiner.run(show, 0, Keys.of("next"), List.of()))
          .succeedsWithin(Duration.ofSeconds(20));
    } finally {
      client.shutdown();
    }
  }

  /** Else a change of a counter would be told to be unknown that was never on its way. */
  @Test
  void aRequestForWhichThereIsNoRoomFailsUnsent() {
    Combiner combiner =
        new Combiner(new Verbs(null, new Failures("server")), "", 1, () -> 0, (reply, rings) -> {});
    Scripts.Script script = new Scripts.Script("", "");
    List<CompletableFuture<List<Object>>> beyond = new ArrayList<>();

    Combiner.together(
        () -> {
          for (int i = 0; i < Combiner.MOST_WAITING; i++) {
            combiner.run(script, 1, "key", List.of());
          }
          beyond.add(combiner.run(script, 1, "key", List.of()));
        });

    assertThat(beyond.get(0))
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(StoreUnavailableException.class)
        .matches(error -> ((StoreUnavailableException) error.getCause()).isUnsent());
  }

  @Test
  void anErrorOfTheJvmIsAnsweredToAllWhoWait() {
    Combiner combiner =
        new Combiner(new Verbs(null, new Failures("server")), "", 1, () -> 0, (reply, rings) -> {});
    List<String> tooLong =
        new AbstractList<>() {
          @Override
          public String get(int index) {
            throw new StackOverflowError("scripted");
          }

          @Override
          public int size() {
            return 1;
          }
        };
    Scripts.Script script = new Scripts.Script("", "");
    List<CompletableFuture<List<Object>>> answers = new ArrayList<>();

    Combiner.together(
        () -> {
          answers.add(combiner.run(script, 1, "key", List.of()));
          answers.add(combiner.run(script, 1, "other key", tooLong));
          answers.add(combiner.run(new Scripts.Script("", ""), 1, "key", tooLong));
        });

    assertThat(answers)
        .allSatisfy(
            answer ->
                assertThat(answer)
                    .failsWithin(Duration.ZERO)
                    .withThrowableThat()
                    .withCauseInstanceOf(StoreUnavailableException.class)
                    .withRootCauseInstanceOf(StackOverflowError.class));
  }

  @Test
  void anErrorOfTheJvmWhileHalvesAreAskedForIsAnsweredToo() {
    StoreException ofOne =
        new StoreException("scripted", new RedisCommandExecutionException("WRONGTYPE"));
    CompletableFuture<Map<ClaimId, Standing>> first = CompletableFuture.failedFuture(ofOne);

    assertThat(
            Renewal.of(
                claims("halves"),
                CLAIMS,
                claim -> 0,
                new Failures("server"),
                command -> {
                  if (command.size() == CLAIMS) {
                    return first;
                  }
                  throw new StackOverflowError("scripted");
                }))
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(StoreUnavailableException.class)
        .withRootCauseInstanceOf(StackOverflowError.class);
  }

  @Test
  void aServerWithoutTheScriptsIsSentThemOnce() {
    server.call("SCRIPT", "FLUSH");
    Commands before = Commands.of(server);
    assertThat(takeAll(claims("flushed"))).allMatch(Standing.Held.class::isInstance);
    assertThat(Commands.of(server).since(before).get("eval")).isLessThanOrEqualTo(5L);
  }

  @Test
  void aLostReplyLeavesAllItsClaimsUnknownAndEachResolvedByItsId() {
    try (FaultProxy proxy = FaultProxy.before(server.host(), server.port());
        RedisStore behind =
            Seam.connect("redis://" + proxy.host() + ":" + proxy.port() + "?timeout=500ms")) {
      List<Claim> claims = claims("lost");
      proxy.blackHole(Direction.TO_CLIENT);
      List<CompletionStage<Standing>> stages = new ArrayList<>();
      claims.forEach(claim -> stages.add(behind.attempt(claim, standing -> {})));
      for (CompletionStage<Standing> stage : stages) {
        assertThatThrownBy(() -> Seam.answer(stage)).isInstanceOf(StoreUnavailableException.class);
      }
      proxy.heal();
      List<Standing> first = takeAll(claims);
      assertThat(first).allMatch(Standing.Held.class::isInstance);
      assertThat(takeAll(claims)).isEqualTo(first);
    }
  }
}
