package io.pawl.cli.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class ReleaseCommandTest {

  private final ByteArrayOutputStream results = new ByteArrayOutputStream();

  /** A lock whose holders are others at each look. */
  private static final class Passing implements Inspectable {

    private final Queue<List<Long>> looks = new ArrayDeque<>();
    private final List<Long> still = new ArrayList<>();

    Passing seen(Long... tokens) {
      looks.add(Arrays.asList(tokens));
      return this;
    }

    Passing still(Long... tokens) {
      still.addAll(Arrays.asList(tokens));
      return this;
    }

    @Override
    public CompletionStage<List<LockView>> list(int limit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Optional<LockView>> show(String lock) {
      List<ClaimView> holders = looks.remove().stream().map(Passing::claim).toList();
      return CompletableFuture.completedFuture(
          Optional.of(new LockView(lock, Kind.LOCK, 9, holders, List.of())));
    }

    private static ClaimView claim(long token) {
      Holder holder = new Holder("host", 7, "main", "app", "note " + token);
      Instant now = Instant.now();
      return new ClaimView(new ClaimId("c", token), Mode.EXCLUSIVE, token, token, now, now, holder);
    }

    @Override
    public CompletionStage<Boolean> evict(String lock, long token) {
      return CompletableFuture.completedFuture(still.remove(token));
    }

    @Override
    public CompletionStage<Boolean> setKind(String lock, Kind kind) {
      throw new UnsupportedOperationException();
    }
  }

  private int release(Inspectable store) {
    Output output =
        new Output(new PrintStream(results), new PrintStream(new ByteArrayOutputStream()));
    ReleaseCommand command = new ReleaseCommand(Map.of(), output);
    return command.inspect(store, new CommandLine(command.spec()).parseArgs("--force", "nightly"));
  }

  @Test
  void aLockThatChangedHandsBeforeItsHoldWasEndedIsNoSuccess() {
    Passing lock = new Passing().seen(3L).seen(4L).still(4L);

    assertThatThrownBy(() -> release(lock))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("token 3")
        .hasMessageContaining("note 4")
        .satisfies(failure -> assertThat(((Failure) failure).exit()).isEqualTo(Exit.LOST));
    assertThat(lock.still).containsExactly(4L);
  }

  /** Of a semaphore, say. */
  @Test
  void theHoldsThatAreStillThereAreEndedAllTheSame() {
    Passing lock = new Passing().seen(3L, 5L).seen(6L).still(5L, 6L);

    assertThatThrownBy(() -> release(lock)).hasMessageContaining("token 3 had");
    assertThat(results.toString(UTF_8)).isEqualTo("released lock 'nightly', token 5\n");
  }

  @Test
  void aLockThatWasGivenBackMeanwhileIsFree() {
    assertThat(release(new Passing().seen(3L).seen())).isZero();
  }
}
