package io.pawl.redis.transition;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pawl.Pawl;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A release in between beside one that sets a key by itself. */
class TransitionKeysTest {

  private static final Executor OWN_THREAD = task -> new Thread(task).start();
  private static final String KEY = "lock:order-17";

  private static RedisServer server;
  private static RedisClient client;

  private final StatefulRedisConnection<String, String> old = client.connect();
  private final Pawl pawl = Pawl.connect(server.url());
  private final TransitionKeys keys = TransitionKeys.over(pawl, old, Duration.ofSeconds(2));
  private final Lock lock = keys.getLock("order-17", KEY);

  @BeforeAll
  static void startServer() {
    server = RedisServer.start();
    client = RedisClient.create(server.url());
  }

  @AfterAll
  static void stopServer() {
    client.shutdown();
    server.close();
  }

  @BeforeEach
  void empty() {
    old.sync().del(KEY);
  }

  @AfterEach
  void close() {
    keys.close();
    pawl.close(Duration.ZERO);
    old.close();
  }

  /** As the release before does it. */
  private boolean oldReleaseLocks() {
    return old.sync().set(KEY, "old", SetArgs.Builder.nx().px(60_000)) != null;
  }

  private boolean isPawlsFree() {
    return !pawl.inspect("order-17").isHeld();
  }

  @Test
  void bothAreHeldOrNeither() throws InterruptedException {
    lock.lock();
    assertThat(oldReleaseLocks()).isFalse();
    assertThat(isPawlsFree()).isFalse();
    lock.unlock();

    assertThat(isPawlsFree()).isTrue();
    assertThat(oldReleaseLocks()).isTrue();
    assertThat(lock.tryLock()).isFalse();
    assertThat(lock.tryLock(10, MILLISECONDS)).isFalse();
    assertThat(isPawlsFree()).isTrue();
    assertThat(old.sync().get(KEY)).isEqualTo("old");
  }

  @Test
  void aWaiterGetsInWhenTheReleaseBeforeHasDeletedItsKey() throws Exception {
    assertThat(oldReleaseLocks()).isTrue();
    CompletableFuture<Boolean> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              lock.lock();
              lock.unlock();
              return true;
            },
            OWN_THREAD);
    old.sync().del(KEY);
    assertThat(waiting.get(1, MINUTES)).isTrue();
  }

  @Test
  void aKeyIsRenewedWhileItIsHeldAndItsThreadMayEnterAgain() throws InterruptedException {
    lock.lock();
    keys.getLock("order-17", KEY).lock();
    lock.unlock();

    assertThat(
            CompletableFuture.supplyAsync(
                    () -> {
                      try {
                        return keys.getLock("another", KEY).tryLock(3, SECONDS);
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                    },
                    OWN_THREAD)
                .join())
        .isFalse();

    lock.unlock();
    assertThat(old.sync().get(KEY)).isNull();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void aKeyThatAnotherHasSetMeanwhileStaysAndTheLossIsTold() {
    lock.lock();
    old.sync().set(KEY, "old");

    assertThatThrownBy(lock::unlock)
        .isInstanceOf(IllegalMonitorStateException.class)
        .hasMessageContaining("was lost before");
    assertThat(old.sync().get(KEY)).isEqualTo("old");
    assertThat(isPawlsFree()).isTrue();
  }

  @Test
  void anInterruptLeavesNoKeyBehind() {
    Thread.currentThread().interrupt();
    lock.lock();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(oldReleaseLocks()).isFalse();

    Thread.currentThread().interrupt();
    lock.unlock();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(oldReleaseLocks()).isTrue();
  }

  @Test
  void theKeyOfAThreadThatHasEndedRunsOut() throws InterruptedException {
    Thread gone = new Thread(keys.getLock("of one that ends", KEY)::lock); // Pawl's stays a while
    gone.start();
    gone.join();

    await().until(this::oldReleaseLocks);
  }

  @Test
  void aKeyThatWasLostIsRenewedNoMoreAndNotEnteredAgain() {
    lock.lock();
    old.sync().set(KEY, "old");

    await().pollInSameThread().until(() -> keys.renewed() == 0);
    assertThatThrownBy(lock::tryLock)
        .isInstanceOf(IllegalMonitorStateException.class)
        .hasMessageContaining("was lost before");
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(isPawlsFree()).isTrue();
  }

  @Test
  void afterTheCloseNoKeyIsTaken() {
    keys.close();

    assertThatThrownBy(lock::lock)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThat(oldReleaseLocks()).isTrue();
    assertThat(isPawlsFree()).isTrue();
  }

  /** With an own connection, which breaks before the answer to a script of this {@code text}. */
  private void whereAnAnswerIsBrokenOff(String text, BiConsumer<Lock, Runnable> body) {
    try (FaultProxy proxy = FaultProxy.before(server.host(), server.port());
        RedisClient broken = RedisClient.create("redis://" + proxy.host() + ":" + proxy.port());
        TransitionKeys again = TransitionKeys.over(pawl, broken.connect(), Duration.ofMinutes(1))) {
      body.accept(again.getLock("order-17", KEY), () -> proxy.breakOffReply(":", text));
      assertThat(proxy.droppedReplies()).isOne();
    }
  }

  @Test
  void aDeletionThatLettuceSendsAgainIsNotTakenForALoss() {
    whereAnAnswerIsBrokenOff(
        "'DEL'",
        (both, breakOff) -> {
          both.lock();
          breakOff.run();

          both.unlock();

          assertThat(isPawlsFree()).isTrue();
          assertThat(old.sync().exists(KEY)).isZero();
        });
  }

  @Test
  void aKeyThatLettuceSetsAgainIsTaken() {
    whereAnAnswerIsBrokenOff(
        "'SET'",
        (both, breakOff) -> {
          breakOff.run();

          assertThat(both.tryLock()).isTrue();

          assertThat(isPawlsFree()).isFalse();
          both.unlock();
          assertThat(old.sync().exists(KEY)).isZero();
        });
  }

  /** With an own connection, whose answers come {@code late} from the time on that is told. */
  private void whereAnswersAreLate(Duration keyTime, BiConsumer<TransitionKeys, Runnable> body) {
    try (FaultProxy proxy = FaultProxy.before(server);
        RedisClient slow = RedisClient.create("redis://" + proxy.host() + ":" + proxy.port());
        TransitionKeys late = TransitionKeys.over(pawl, slow.connect(), keyTime)) {
      Duration delay = keyTime.multipliedBy(5).dividedBy(6);
      body.accept(late, () -> proxy.delay(Direction.TO_CLIENT, delay));
      proxy.heal();
    }
  }

  @Test
  void aKeyWhoseAnswerComesAsItsTimeIsNearlyOverIsNotTaken() {
    whereAnswersAreLate(
        Duration.ofMillis(600),
        (late, delay) -> {
          Lock slowly = late.getLock("order-17", KEY);
          delay.run();

          assertThat(slowly.tryLock()).isFalse();

          assertThat(isPawlsFree()).isTrue();
          assertThat(old.sync().exists(KEY)).isZero();
        });
  }

  @Test
  void aKeyStaysThoughEachAnswerToARenewalIsLate() {
    whereAnswersAreLate(
        Duration.ofSeconds(3),
        (late, delay) -> {
          Lock slowly = late.getLock("order-17", KEY);
          slowly.lock();
          delay.run();

          await()
              .during(Duration.ofSeconds(6))
              .atMost(Duration.ofSeconds(20))
              .until(() -> old.sync().exists(KEY) == 1);

          slowly.unlock();
        });
  }

  @Test
  void aKeyStaysThoughTheAnswersToTheRenewalsOfOthersAreLate() {
    String[] names = {KEY, "lock:order-18", "lock:order-19"};
    whereAnswersAreLate(
        Duration.ofSeconds(3),
        (late, delay) -> {
          List<Lock> all = Stream.of(names).map(key -> late.getLock(key, key)).toList();
          all.forEach(Lock::lock);
          delay.run();

          await()
              .during(Duration.ofSeconds(6))
              .atMost(Duration.ofSeconds(20))
              .until(() -> old.sync().exists(names) == names.length);

          all.forEach(Lock::unlock);
        });
  }
}
