package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.servers.FaultProxy;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of round trips in docs/SQL.md. */
class TripsTest {

  private static final AtomicInteger names = new AtomicInteger();

  private final String name = "trips-" + names.incrementAndGet();

  private static <T> T await(CompletionStage<T> answer) throws Exception {
    return answer.toCompletableFuture().get(60, SECONDS);
  }

  private static Standing attempt(SqlStore store, Claim claim) throws Exception {
    return await(store.attempt(claim, standing -> {}));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aNameNeverSeenCostsTwoAndOneThatIsAsItWasLeftCostsOne(TestDatabase database)
      throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.server());
        SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(database.urlThrough(proxy)))) {
      Claim first = Claims.claim(name);
      int before = proxy.trips();
      assertThat(attempt(store, first)).isInstanceOf(Standing.Held.class);
      assertThat(proxy.trips() - before).as("a name never seen").isEqualTo(2);
      await(store.withdraw(first));
      assertThat(proxy.trips() - before).as("given back").isEqualTo(3);
      assertThat(attempt(store, Claims.claim(name))).isInstanceOf(Standing.Held.class);
      assertThat(proxy.trips() - before).as("taken again").isEqualTo(4);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void whoeverIsTurnedAwayFromALockKnownToBeBusyCostsOne(TestDatabase database) throws Exception {
    String polling = database == TestDatabase.POSTGRES ? "&pawl.listen=false" : "";
    try (FaultProxy proxy = FaultProxy.before(database.server());
        SqlStore holding = database.open();
        SqlStore store =
            (SqlStore) Stores.open(StoreUrl.parse(database.urlThrough(proxy) + polling))) {
      assertThat(attempt(holding, Claims.claim(name))).isInstanceOf(Standing.Held.class);
      Claim impatient = Claims.claim(name).as(Mode.EXCLUSIVE);
      int before = proxy.trips();
      assertThat(attempt(store, impatient)).isEqualTo(Standing.GONE);
      assertThat(proxy.trips() - before).as("first seen").isEqualTo(2);
      assertThat(attempt(store, impatient)).isEqualTo(Standing.GONE);
      assertThat(proxy.trips() - before).as("turned away").isEqualTo(3);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aCounterThatIsAsItWasLeftCostsTwo(TestDatabase database) {
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Pawl pawl = Pawl.connect(database.urlThrough(proxy))) {
      Counter counter = pawl.counter(name);
      counter.add(10);
      int before = proxy.trips();
      counter.add(-1);
      assertThat(proxy.trips() - before).isEqualTo(2);
      assertThat(counter.get()).isEqualTo(9);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aLookAtALockCostsOneAndNoConnection(TestDatabase database) throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.server());
        SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(database.urlThrough(proxy)))) {
      attempt(store, Claims.claim(name));
      assertThat(await(store.show(name))).isPresent();
      int before = proxy.trips();
      assertThat(await(store.show(name))).isPresent();
      assertThat(proxy.trips() - before).isEqualTo(1);

      proxy.reset();
      assertThat(await(store.show(name))).as("over a new connection").isPresent();
    }
  }
}
