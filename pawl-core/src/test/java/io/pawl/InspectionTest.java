package io.pawl;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class InspectionTest {

  @Test
  void aStoreThatCannotBeLookedIntoIsNamed() {
    try (Pawl pawl = Pawl.over(new ScriptedStore())) {
      assertThatThrownBy(() -> pawl.inspect("x"))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessage("scripted cannot say who holds 'x'");
      assertThatThrownBy(() -> pawl.evict("x", 1))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThatThrownBy(() -> pawl.semaphore("x", 2).availablePermits())
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void aClosedClientLooksAtNothing() {
    Pawl pawl = Pawl.over(new MemoryStore());
    pawl.close();
    assertThatThrownBy(() -> pawl.inspect("x")).isInstanceOf(IllegalStateException.class);
  }

  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aStoreThatKeepsSilentIsWaitedForNoLongerThanTheClientIsPatient() {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ofMillis(200));
    try (Pawl pawl = Pawl.over(new SilentStore(), impatient)) {
      assertThatThrownBy(() -> pawl.inspect("x"))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessage("lock 'x': silent has not answered");
      assertThatThrownBy(() -> pawl.evict("x", 1)).isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> pawl.semaphore("x", 2).availablePermits())
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> pawl.semaphore("x", 2).changeCapacity(3))
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> pawl.election("x").leader())
          .isInstanceOf(StoreUnavailableException.class);
    }
  }

  /** Has others in line before whoever looks into it. */
  private static final class SilentStore implements LockStore, Inspectable {

    private final MemoryStore memory = new MemoryStore();

    @Override
    public CompletionStage<List<LockView>> list(int limit) {
      return new CompletableFuture<>();
    }

    @Override
    public CompletionStage<Optional<LockView>> show(String lock) {
      return new CompletableFuture<>();
    }

    @Override
    public CompletionStage<Boolean> evict(String lock, long token) {
      return new CompletableFuture<>();
    }

    @Override
    public CompletionStage<Boolean> setKind(String lock, Kind kind) {
      return new CompletableFuture<>();
    }

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      return memory.attempt(claim, bell);
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      return memory.renew(claims);
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
      return memory.withdraw(claim);
    }

    @Override
    public String describe() {
      return "silent";
    }

    @Override
    public void close() {
      memory.close();
    }
  }
}
