package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Output;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * What is left of a lease when its command starts. After a long wait that may be less than half;
 * here {@code killAfter} is longer than any command line allows, so that nothing ever is enough.
 */
class LeaseAtStartTest {

  private static final Duration LEASE = Duration.ofSeconds(30);

  private final MemoryStore store = new MemoryStore();
  private final AtomicInteger renewals = new AtomicInteger();

  /** The first renewal finds the claim gone where {@code forgets}. */
  private record Counting(LockStore store, AtomicInteger renewals, boolean forgets)
      implements LockStore {
    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      return store.attempt(claim, bell);
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      if (renewals.incrementAndGet() > 1 || !forgets) {
        return store.renew(claims);
      }
      Claim claim = claims.iterator().next();
      return CompletableFuture.completedFuture(Map.of(claim.id(), new Standing.Gone()));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
      return store.withdraw(claim);
    }

    @Override
    public String describe() {
      return store.describe();
    }

    @Override
    public void close() {}
  }

  private Lease acquire(Duration killAfter, boolean forgets) throws Exception {
    RunOptions options =
        new RunOptions(
            "x",
            Mode.EXCLUSIVE,
            List.of("true"),
            false,
            Duration.ofSeconds(20),
            false,
            LEASE,
            Duration.ZERO,
            Duration.ofDays(1),
            killAfter,
            OnLost.TERM,
            "",
            false);
    LockStore counting = new Counting(store, renewals, forgets);
    Run run = new Run(options, () -> counting, Map.of(), Output.ofThisProcess(), System::nanoTime);
    return run.acquire(Pawl.over(run.open())).orElseThrow();
  }

  @Test
  void aCommandWhoseKillAfterWouldBeginAtOnceHasItsLeaseRenewedFirst() throws Exception {
    try (Lease lease = acquire(LEASE.dividedBy(10).multipliedBy(9), false)) {
      assertThat(lease.isValid()).isTrue();
      assertThat(renewals).hasValue(1);
    }
  }

  @Test
  void aCommandThatHasTimeStartsWithoutAnotherTrip() throws Exception {
    try (Lease lease = acquire(LEASE.dividedBy(2), false)) {
      assertThat(lease.isValid()).isTrue();
      assertThat(renewals).hasValue(0);
    }
  }

  @Test
  void aLeaseThatIsFoundLostBeforeTheCommandStartsIsWaitedForAgain() throws Exception {
    try (Lease lease = acquire(LEASE.dividedBy(10).multipliedBy(9), true)) {
      assertThat(lease.isValid()).isTrue();
      assertThat(renewals).hasValue(2);
    }
  }
}
