package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a watch of an election leaves behind. */
class LeaderWatchTest {

  private static final Duration EVERY = Duration.ofDays(1);

  private final ScriptedClient client = new ScriptedClient(PawlOptions.defaults());

  /** Else its listener, and all that this reaches, stays for up to a day. */
  @Test
  void aWatchThatIsClosedLeavesNothingOnTheTimer() {
    LeaderWatch watch =
        new LeaderWatch(
            client.engine(),
            () -> CompletableFuture.completedFuture(Optional.empty()),
            EVERY,
            leader -> {});
    client.pass(Duration.ZERO);
    watch.close();
    long before = client.executed();

    client.pass(EVERY);

    assertThat(client.executed()).isEqualTo(before);
  }
}
