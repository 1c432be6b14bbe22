package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Output;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What is left of a lease when its command starts. After a long wait that may be less than half;
 * here {@code killAfter} is longer than any command line allows, so that nothing ever is enough.
 */
class LeaseAtStartTest {

  private static final Duration LEASE = Duration.ofSeconds(30);

  private final MemoryStore store = new MemoryStore();
  private final AtomicInteger renewals = new AtomicInteger();
  private final AtomicInteger looks = new AtomicInteger();
  private @Nullable StoreException refusal;

  /** The first {@code forgotten} renewals find their claim gone; or all fail. */
  private static final class Counting extends WrappedStore {

    private final AtomicInteger renewals;
    private final int forgotten;
    private final @Nullable StoreException refusal;

    Counting(
        LockStore store, AtomicInteger renewals, int forgotten, @Nullable StoreException refusal) {
      super(store);
      this.renewals = renewals;
      this.forgotten = forgotten;
      this.refusal = refusal;
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      if (refusal != null) {
        return CompletableFuture.failedFuture(refusal);
      }
      if (renewals.incrementAndGet() > forgotten) {
        return super.renew(claims);
      }
      Claim claim = claims.iterator().next();
      return CompletableFuture.completedFuture(Map.of(claim.id(), new Standing.Gone()));
    }
  }

  /** Every look at it is a second later. */
  private long nanos() {
    return looks.incrementAndGet() * 1_000_000_000L;
  }

  private Lease acquire(Duration killAfter, int forgotten) throws Exception {
    return acquire(
        killAfter, Duration.ofSeconds(20), new Counting(store, renewals, forgotten, refusal));
  }

  private Lease acquire(Duration killAfter, @Nullable Duration wait, LockStore opened)
      throws Exception {
    RunOptions options =
        new RunOptions(
            "x",
            Mode.EXCLUSIVE,
            List.of("true"),
            false,
            wait,
            false,
            LEASE,
            Duration.ZERO,
            Duration.ofDays(1),
            killAfter,
            OnLost.TERM,
            "",
            false);
    Run run =
        new Run(
            options,
            () -> opened,
            Map.of(),
            Output.ofThisProcess(),
            this::nanos,
            new Signals(Thread.currentThread()));
    return run.acquire(Pawl.over(run.open())).orElseThrow();
  }

  @Test
  void aCommandWhoseKillAfterWouldBeginAtOnceHasItsLeaseRenewedFirst() throws Exception {
    try (Lease lease = acquire(LEASE.dividedBy(10).multipliedBy(9), 0)) {
      assertThat(lease.isValid()).isTrue();
      assertThat(renewals).hasValue(1);
    }
  }

  @Test
  void aCommandThatHasTimeStartsWithoutAnotherTrip() throws Exception {
    try (Lease lease = acquire(LEASE.dividedBy(2), 0)) {
      assertThat(lease.isValid()).isTrue();
      assertThat(renewals).hasValue(0);
    }
  }

  @Test
  void aLeaseThatIsFoundLostBeforeTheCommandStartsIsWaitedForAgain() throws Exception {
    try (Lease lease = acquire(LEASE.dividedBy(10).multipliedBy(9), 1)) {
      assertThat(lease.isValid()).isTrue();
      assertThat(renewals).hasValue(2);
    }
  }

  /** Without {@code --wait}, however long it has stood in line before. */
  @Test
  void whoWaitsWithoutLimitWaitsAgainWhenItsLeaseIsFoundLost() throws Exception {
    Duration killAfter = LEASE.dividedBy(10).multipliedBy(9);
    LockStore opened = new Counting(store, renewals, 10, null);
    try (Lease lease = acquire(killAfter, null, opened)) {
      assertThat(lease.isValid()).isTrue();
      assertThat(renewals).hasValue(11);
    }
  }

  /** Says that the first claim is gone, and hears of its end after a second one has come. */
  private static final class Keeping extends WrappedStore {

    private final AtomicInteger attempts = new AtomicInteger();

    Keeping(LockStore store) {
      super(store);
    }

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      attempts.incrementAndGet();
      return super.attempt(claim, bell);
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      Claim claim = claims.iterator().next();
      return attempts.get() == 1
          ? CompletableFuture.completedFuture(Map.of(claim.id(), new Standing.Gone()))
          : super.renew(claims);
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
      return attempts.get() == 1
          ? CompletableFuture.failedFuture(new StoreUnavailableException("is away", null))
          : super.withdraw(claim);
    }
  }

  @Test
  void whatIsLeftOfALostLeaseIsNoOtherHost() throws Exception {
    Duration killAfter = LEASE.dividedBy(10).multipliedBy(9);
    try (Lease lease = acquire(killAfter, Duration.ZERO, new Keeping(store))) {
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void aLeaseThatCannotBeRenewedIsGivenBack() throws Exception {
    refusal = new StoreDeniedException("the account may write no more", null);
    Duration killAfter = LEASE.dividedBy(10).multipliedBy(9);
    assertThatThrownBy(() -> acquire(killAfter, 0)).isInstanceOf(StoreDeniedException.class);

    assertThat(Pawl.over(store).lock("x").tryAcquire(LEASE.dividedBy(10))).isPresent();
  }

  @Test
  void aLeaseThatIsFoundLostAgainAndAgainIsGivenUp() {
    Duration killAfter = LEASE.dividedBy(10).multipliedBy(9);
    assertThatThrownBy(() -> acquire(killAfter, Integer.MAX_VALUE))
        .isInstanceOf(LeaseLostException.class);
  }
}
