package io.pawl.tck.seam;

import static io.pawl.tck.rig.Bench.eventually;
import static io.pawl.tck.rig.SeamClient.held;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreException;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.Tokens;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.rig.SeamClient.Hold;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tokens only grow, whatever happens between two grants. */
public abstract class StoreTokenCases extends SeamCases {

  protected StoreTokenCases(Bench bench) {
    super(bench);
  }

  @Test
  void tokensGrowAcrossReleaseExpiryAndReopen() {
    String lock = bench.lock("grow");
    Hold released = here.take(lock);
    here.withdraw(released);

    Hold silent = there.ask(lock).lease(bench.shortLease()).take();
    assertThat(silent.tokens().token()).isGreaterThan(released.tokens().lastToken());
    eventually(() -> here.findsFree(lock));

    Hold afterExpiry = here.take(lock);
    assertThat(afterExpiry.tokens().token()).isGreaterThan(silent.tokens().lastToken());
    here.withdraw(afterExpiry);
    here.store().close();
    there.store().close();

    Hold reopened = bench.client().take(lock);
    assertThat(reopened.tokens().token()).isGreaterThan(afterExpiry.tokens().lastToken());
  }

  @Test
  void tokensGrowAcrossAnUnsettledWithdraw() {
    String lock = bench.lock("unsettled");
    Hold doubtful = here.take(lock);
    here.withdraw(doubtful.claim().asUnsettled());

    Hold next = there.take(lock);

    assertThat(next.tokens().token()).isGreaterThan(doubtful.tokens().lastToken());
  }

  @Test
  void tokensGrowAlongTheLine() {
    String lock = bench.lock("line");
    Hold hold = here.take(lock);
    List<Claim> line = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      line.add(there.ask(lock).tokens(1 + i).stand());
    }
    here.withdraw(hold);

    long last = hold.tokens().lastToken();
    for (Claim claim : line) {
      Standing.Held granted = held(there.renew(claim));
      assertThat(granted.token()).isGreaterThan(last);
      last = granted.lastToken();
      there.withdraw(claim);
    }
  }

  @Test
  void tokenRangesNeverOverlap() {
    String lock = bench.lock("ranges");
    long last = 0;
    for (int wanted : new int[] {1, 1000, 1, Tokens.MAX_PER_CLAIM, 7, 2, 1}) {
      Claim claim = here.ask(lock).tokens(wanted).claim();
      Standing.Held granted = held(here.attempt(claim));
      assertThat(granted.token()).isGreaterThan(last);
      assertThat(granted.lastToken()).isBetween(granted.token(), granted.token() + wanted - 1);
      assertThat(here.attempt(claim)).isEqualTo(granted);
      last = granted.lastToken();
      here.withdraw(claim);
    }
  }

  @Test
  void holdersSideBySideHaveTokensOfTheirOwn() {
    String lock = bench.lock("sideBySide");
    long last = 0;
    for (SeamClient client : List.of(here, there, here)) {
      Hold hold = client.ask(lock).mode(Mode.SHARED).tokens(10).take();
      assertThat(hold.tokens().token()).isGreaterThan(last);
      last = hold.tokens().lastToken();
    }
  }

  @Test
  void tokenFloorIsRespected() {
    String lock = bench.lock("floor");
    long floor = 1L << 40;
    Hold above = here.ask(lock).above(floor).tokens(5).take();
    assertThat(above.tokens().token()).isGreaterThan(floor);

    Claim waiter = there.ask(lock).above(2 * floor).stand();
    here.withdraw(above);
    Standing.Held second = held(there.renew(waiter));
    assertThat(second.token()).isGreaterThan(2 * floor);
    there.withdraw(waiter);

    Hold withoutFloor = here.take(lock);
    assertThat(withoutFloor.tokens().token()).isGreaterThan(second.lastToken());
  }

  @Test
  void aClaimForWhichNoTokenIsLeftFailsAlone() {
    String lock = bench.lock("usedUp");
    Claim greedy = here.ask(lock).above(Tokens.MAX).claim();

    assertThatThrownBy(() -> here.attempt(greedy)).isInstanceOf(StoreException.class);

    here.withdraw(greedy);
    here.take(bench.lock("other"));
    there.take(lock);
  }

  @Test
  void aVerbThatFailsAnswersWithAFailedStage() {
    Claim greedy = here.ask(bench.lock("stage")).above(Tokens.MAX).claim();

    CompletableFuture<Standing> answer =
        here.store().attempt(greedy, standing -> {}).toCompletableFuture();

    assertThatThrownBy(() -> answer.get(20, TimeUnit.SECONDS))
        .hasCauseInstanceOf(StoreException.class);
  }
}
