package io.pawl.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockMetersTest {

  private static final Duration SOON = Duration.ofMillis(200);

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final LockMeters meters = new LockMeters(registry);
  private final MemoryStore store = new MemoryStore();
  private final Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(meters));
  private final Pawl other = Pawl.over(store);

  @AfterEach
  void close() {
    pawl.close(Duration.ZERO);
    other.close();
  }

  private double acquisitions(String outcome) {
    return registry
        .get("pawl.lock.acquisitions")
        .tags("group", "orders", "outcome", outcome)
        .counter()
        .count();
  }

  private double gauge(String name) {
    return registry.get(name).tag("group", "orders").gauge().value();
  }

  private double lost(String reason) {
    return registry
        .get("pawl.lock.lost")
        .tags("group", "orders", "reason", reason)
        .counter()
        .count();
  }

  private long times(String timer) {
    return registry.get(timer).tag("group", "orders").timer().count();
  }

  @Test
  void aLeaseIsSeenWhileItIsHeldAndTimedAtItsEnd() throws Exception {
    try (Lease lease = pawl.lock("orders:42").acquire()) {
      assertThat(gauge("pawl.lock.held")).isEqualTo(1);
      assertThat(times("pawl.lock.hold")).isZero();
    }

    assertThat(gauge("pawl.lock.held")).isZero();
    assertThat(times("pawl.lock.hold")).isEqualTo(1);
    assertThat(times("pawl.lock.wait")).isEqualTo(1);
    assertThat(acquisitions("granted")).isEqualTo(1);
    assertThat(acquisitions("passed") + acquisitions("refused")).isZero();
  }

  @Test
  void aRequestThatFindsTheLockBusyIsARefusalAndAWait() throws Exception {
    try (Lease held = other.lock("orders:42").acquire()) {
      assertThat(pawl.lock("orders:42").tryAcquire()).isEmpty();
    }

    assertThat(acquisitions("refused")).isEqualTo(1);
    assertThat(times("pawl.lock.wait")).isEqualTo(1);
    assertThat(gauge("pawl.lock.held")).isZero();
  }

  @Test
  void clientsThatShareARegistryAndTagsAddUp() throws Exception {
    try (Pawl second = Pawl.over(store, PawlOptions.defaults().observer(new LockMeters(registry)));
        Lease one = pawl.lock("orders:1").acquire();
        Lease two = second.lock("orders:2").acquire()) {
      assertThat(gauge("pawl.lock.held")).isEqualTo(2);
    }
    assertThat(gauge("pawl.lock.held")).isZero();
  }

  @Test
  void aRunOfAJobThatIsLeftOutIsCounted() throws Exception {
    try (Lease running = other.lock("orders").acquire()) {
      assertThat(pawl.job("orders").run(lease -> {})).isFalse();
    }
    assertThat(pawl.job("orders").run(lease -> {})).isTrue();
    assertThat(registry.get("pawl.job.skipped").tag("group", "orders").counter().count())
        .isEqualTo(1);
  }

  @Test
  void whoWaitsIsSeenWhileItWaits() throws Exception {
    Lease held = other.lock("orders:42").acquire();
    CompletableFuture<Lease> first = pawl.lock("orders:42").acquireAsync();
    CompletableFuture<Lease> second = pawl.lock("orders:42").acquireAsync();
    await().untilAsserted(() -> assertThat(gauge("pawl.lock.waiters")).isEqualTo(2));

    held.close();
    first.get(60, TimeUnit.SECONDS).close();
    second.get(60, TimeUnit.SECONDS).close();

    await().untilAsserted(() -> assertThat(gauge("pawl.lock.waiters")).isZero());
    await()
        .untilAsserted(
            () -> assertThat(acquisitions("granted") + acquisitions("passed")).isEqualTo(2));
  }

  @Test
  void aLeaseFromAnotherThreadOfTheClientWasPassedOn() {
    meters.acquired("orders:42", 1, SOON, true);

    assertThat(acquisitions("passed")).isEqualTo(1);
    assertThat(acquisitions("granted")).isZero();
  }

  @Test
  void aLeaseThatTheStoreEndedIsTaken() throws Exception {
    Lease lease = pawl.lock("orders:42").acquire();
    other.evict("orders:42", lease.token());

    await()
        .untilAsserted(
            () -> {
              try {
                lease.extend(SOON); // which asks the store
              } catch (LeaseLostException e) {
                assertThat(lost("taken")).isEqualTo(1);
                return;
              }
              throw new AssertionError("not lost yet");
            });

    assertThat(gauge("pawl.lock.held")).isZero();
    assertThat(times("pawl.lock.hold")).isZero();
  }

  @Test
  void aLeaseWhoseDeadlinePassedHasExpired() throws Exception {
    LockOptions once = LockOptions.defaults().lease(SOON).renewal(false);
    Lease lease = pawl.lock("orders:42", once).acquire();

    await().until(() -> !lease.isValid());

    await().untilAsserted(() -> assertThat(lost("expired")).isEqualTo(1));
    assertThat(gauge("pawl.lock.held")).isZero();
  }

  @Test
  void aLeaseThatNobodyClosedInTimeIsLostToTheClose() throws Exception {
    Lease lease = pawl.lock("orders:42").acquire();

    pawl.close(Duration.ZERO);

    assertThat(lease.isValid()).isFalse();
    await().untilAsserted(() -> assertThat(lost("closed")).isEqualTo(1));
  }

  @Test
  void aLeaseThatWasDroppedIsAbandoned() throws Exception {
    pawl.lock("orders:42", LockOptions.defaults().lease(SOON.multipliedBy(5))).acquire();

    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(
            () -> {
              System.gc();
              assertThat(lost("abandoned")).isEqualTo(1);
            });
  }

  @Test
  void failuresOfTheStoreAreCountedByKind() {
    meters.storeFailed("orders:42", new StoreUnavailableException("no answer"));
    meters.storeFailed("orders:43", new StoreUnavailableException("no answer"));
    meters.storeFailed("orders:42", new StoreDeniedException("no right"));
    meters.storeFailed("orders:42", new StoreConfigurationException("no table"));

    assertThat(errors("unavailable")).isEqualTo(2);
    assertThat(errors("denied")).isEqualTo(1);
    assertThat(errors("configuration")).isEqualTo(1);
  }

  private double errors(String kind) {
    return registry.get("pawl.store.errors").tag("kind", kind).counter().count();
  }

  @Test
  void namesNeverBecomeTagsHoweverManyThereAre() throws Exception {
    for (int i = 0; i < 3 * LockMeters.MOST_GROUPS; i++) {
      pawl.lock("user-" + "x".repeat(i % 200) + (char) ('a' + i / 200)).acquire().close();
    }

    assertThat(
            registry.getMeters().stream()
                .map(Meter::getId)
                .filter(id -> id.getName().equals("pawl.lock.wait"))
                .map(id -> Optional.ofNullable(id.getTag("group")))
                .collect(Collectors.toSet()))
        .hasSize(LockMeters.MOST_GROUPS + 1)
        .contains(Optional.of(LockMeters.OTHER));
    assertThat(registry.get("pawl.lock.wait").tag("group", LockMeters.OTHER).timer().count())
        .isEqualTo(2L * LockMeters.MOST_GROUPS);
  }

  @Test
  void locksThatTakeTurnsCountForTheirOwnGroups() throws Exception {
    for (int i = 0; i < 3; i++) {
      pawl.lock("orders:42").acquire().close();
      pawl.lock("stock:42").acquire().close();
      pawl.lock("stock:43").acquire().close();
    }

    assertThat(times("pawl.lock.hold")).isEqualTo(3);
    assertThat(registry.get("pawl.lock.hold").tag("group", "stock").timer().count()).isEqualTo(6);
  }

  @Test
  void aGroupOfTheUsersOwnAndTagsAreOnEachMeter() {
    LockMeters own = new LockMeters(registry, lock -> "team-a", Tags.of("client", "stock"));

    own.acquired("orders:42", 1, SOON, false);

    assertThat(
            registry
                .get("pawl.lock.held")
                .tags("group", "team-a", "client", "stock")
                .gauge()
                .value())
        .isEqualTo(1);
    assertThat(
            registry.getMeters().stream()
                .map(meter -> meter.getId().getTags())
                .filter(tags -> tags.contains(Tag.of("group", "team-a"))))
        .isNotEmpty()
        .allMatch(tags -> tags.contains(Tag.of("client", "stock")));
  }

  @ParameterizedTest
  @CsvSource({
    "orders:42, orders",
    "orders-42, orders",
    "nightly, nightly",
    "pawl:retention, pawl",
    "tenant.orders/17, tenant.orders",
    "42, ''",
    ":x, ''"
  })
  void aLocksGroupIsTheBeginningOfItsName(String lock, String group) {
    assertThat(LockGroups.byBeginning().groupOf(lock)).isEqualTo(group);
  }
}
