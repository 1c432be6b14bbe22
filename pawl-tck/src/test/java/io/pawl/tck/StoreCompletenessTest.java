package io.pawl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class StoreCompletenessTest {

  private abstract static class SomeStoreTest extends LockStoreContract {}

  private abstract static class AllTest extends ServerContracts {}

  private abstract static class PlainStore implements LockStore {}

  private static final class SomeProvider implements StoreProvider {
    @Override
    public Set<String> schemes() {
      return Set.of();
    }

    @Override
    public LockStore open(StoreUrl url) {
      return new MemoryStore();
    }
  }

  @Test
  void everyStoreOwesTheStoreContractAndTheLockContract() {
    assertThat(StoreCompleteness.missing(List.of(PlainStore.class), true, true))
        .containsExactly(LockStoreContract.class, LockContract.class);
  }

  @Test
  void anInspectableStoreOwesItsContractToo() {
    assertThat(StoreCompleteness.missing(List.of(MemoryStore.class), true, true))
        .contains(InspectableContract.class)
        .doesNotContain(CrashContract.class);
  }

  @Test
  void aStoreWithCountersOwesTheirContractToo() {
    assertThat(StoreCompleteness.missing(List.of(MemoryStore.class), true, true))
        .contains(CounterContract.class);
  }

  @Test
  void aStoreWithAUrlOwesTheCrashContract() {
    assertThat(StoreCompleteness.missing(List.of(PlainStore.class, SomeProvider.class), true, true))
        .contains(CrashContract.class);
  }

  @Test
  void aStoreWithAUrlAndCountersOwesTheirCrashContractToo() {
    assertThat(
            StoreCompleteness.missing(List.of(MemoryStore.class, SomeProvider.class), true, true))
        .contains(CounterCrashContract.class);
    assertThat(StoreCompleteness.missing(List.of(PlainStore.class, SomeProvider.class), true, true))
        .doesNotContain(CounterCrashContract.class);
  }

  @Test
  void aStoreThatEndsWithItsProcessOwesNoCrashContract() {
    assertThat(
            StoreCompleteness.missing(List.of(MemoryStore.class, SomeProvider.class), false, true))
        .doesNotContain(CrashContract.class, CounterCrashContract.class);
  }

  @Test
  void whatNestsAllContractsOwesNone() {
    List<Class<?>> served = List.of(MemoryStore.class, SomeProvider.class, AllTest.class);
    assertThat(StoreCompleteness.missing(served, true, true)).isEmpty();
  }

  @Test
  void aContractThatHasASubclassIsNotMissing() {
    assertThat(
            StoreCompleteness.missing(List.of(PlainStore.class, SomeStoreTest.class), true, true))
        .containsExactly(LockContract.class);
  }
}
