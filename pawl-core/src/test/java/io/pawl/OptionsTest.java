package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.concurrent.Durations;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.options.Retention;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsTest {

  private final LockOptions lock = LockOptions.defaults();
  private final PawlOptions client = PawlOptions.defaults();

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S", "PT0.09S", "P8D"})
  void leasesOutsideTheBoundsAreRefused(String lease) {
    assertThatThrownBy(() -> lock.lease(Duration.parse(lease)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 65_536, Integer.MAX_VALUE})
  void passesOutsideTheBoundsAreRefused(int passes) {
    assertThatThrownBy(() -> lock.localPassing(passes, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("passes");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-0.001S", "PT1.001S"})
  void runsOutsideTheBoundsAreRefused(String run) {
    assertThatThrownBy(() -> lock.localPassing(1, Duration.parse(run)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("longest run");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT-1S", "PT1H0.001S"})
  void patienceOutsideTheBoundsIsRefused(String patience) {
    assertThatThrownBy(() -> client.patience(Duration.parse(patience)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("patience");
  }

  @Test
  void whatIsMissingIsRefusedAtOnceAndNotAtTheFirstLock() {
    assertThatThrownBy(() -> lock.note(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> client.application(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> client.observer(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> client.retention(null)).isInstanceOf(NullPointerException.class);
  }

  @Test
  void strictOrderAndLeasesWithoutRenewalAreNeverPassed() {
    assertThat(lock.passes()).isTrue();
    assertThat(lock.strictOrder().passes()).isFalse();
    assertThat(lock.renewal(false).passes()).isFalse();
  }

  @Test
  void theDefaultsAreThoseThatAreDocumented() {
    assertThat(lock.lease()).isEqualTo(Duration.ofSeconds(30));
    assertThat(lock.renewal()).isTrue();
    assertThat(lock.maxPasses()).isEqualTo(65_535);
    assertThat(lock.maxRun()).isEqualTo(Duration.ofMillis(20));
    assertThat(client.patience()).isEqualTo(Duration.ofSeconds(5));
    assertThat(client.shutdownGrace()).isEqualTo(Duration.ofSeconds(5));
    assertThat(client.releaseAtShutdown()).isTrue();
  }

  @Test
  void eachMethodChangesOneThing() {
    LockOptions changed =
        lock.lease(Duration.ofSeconds(1))
            .note("n")
            .localPassing(3, Duration.ZERO)
            .minHold(Duration.ofSeconds(2))
            .releaseInBackground();
    assertThat(changed)
        .isEqualTo(
            new LockOptions(
                Duration.ofSeconds(1),
                true,
                3,
                Duration.ZERO,
                Duration.ofSeconds(2),
                Duration.ZERO,
                true,
                "n"));
    assertThat(changed.passes()).isFalse();
    assertThat(client.application("a").releaseAtShutdown(false).patience(Duration.ZERO))
        .isEqualTo(
            new PawlOptions(
                "a",
                Duration.ZERO,
                LockObserver.NONE,
                false,
                Duration.ofSeconds(5),
                null,
                Retention.NONE));
  }

  @Test
  void waitsAreClampedToAHundredYearsAndNegativeOnesRefused() {
    assertThat(Durations.waitNanos(Duration.ofSeconds(Long.MAX_VALUE)))
        .isEqualTo(Durations.LONGEST.toNanos());
    assertThat(Durations.waitNanos(Duration.ZERO)).isZero();
    assertThatThrownBy(() -> Durations.waitNanos(Duration.ofNanos(-1)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
