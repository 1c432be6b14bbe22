package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A renewal that is answered at the last moment. */
class RenewalRaceTest {

  private final ManualTime clock = new ManualTime();
  private final Engine engine = Engines.over(new MemoryStore(), clock);

  @Test
  void aHoldWhoseRenewalIsAnsweredAsItsLossIsFoundOutIsKept() throws Exception {
    LockOptions options = LockOptions.defaults();
    Requests requests = new Requests(engine, new QueueKey("lock", options, Mode.EXCLUSIVE));
    Loan loan = requests.tryAcquire().orElseThrow();
    LiveClaim claim = loan.claim();
    Standing held = Objects.requireNonNull(claim.held());
    clock.passUnnoticed(options.lease().dividedBy(2));
    long sentAt = clock.nanos();
    assertThat(claim.duty(sentAt)).isEqualTo(LiveClaim.Duty.RENEW);
    clock.passUnnoticed(Duration.ofNanos(claim.nanosUntilLoss(sentAt)));
    assertThat(claim.duty(clock.nanos())).isEqualTo(LiveClaim.Duty.LOSE);
    HookedLock.before(claim, () -> claim.renewed(sentAt, held, null));

    claim.loseIfDue();

    assertThat(loan.isTrusted()).isTrue();
    assertThat(loan.remainingNanos()).isGreaterThan(TimeUnit.SECONDS.toNanos(10));
  }
}
