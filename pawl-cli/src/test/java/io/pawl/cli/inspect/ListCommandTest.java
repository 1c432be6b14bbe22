package io.pawl.cli.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.command.Output;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class ListCommandTest {

  /** A store that answers when it is told to. */
  private record Slow(CompletableFuture<List<LockView>> list, boolean blocks)
      implements Inspectable {
    @Override
    public CompletionStage<List<LockView>> list(int limit) {
      if (blocks) {
        list.join();
      }
      return list;
    }

    @Override
    public CompletionStage<Optional<LockView>> show(String lock) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Boolean> evict(String lock, long token) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CompletionStage<Boolean> setKind(String lock, Kind kind) {
      throw new UnsupportedOperationException();
    }
  }

  /** Each page of it is an answer; the command knows the whole only. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aListIsWaitedForForAsLongAsTheStoreReadsIt(boolean blocks) {
    CompletableFuture<List<Inspectable.LockView>> list = new CompletableFuture<>();
    ByteArrayOutputStream results = new ByteArrayOutputStream();
    PrintStream remarks =
        new PrintStream(new ByteArrayOutputStream()) {
          private int lines;

          @Override
          public void flush() {
            if (++lines == 3) {
              list.complete(List.of());
            }
          }
        };
    Output output = new Output(new PrintStream(results), remarks);
    ListCommand command = new ListCommand(Map.of(), output, Duration.ofMillis(1));

    int exit = command.inspect(new Slow(list, blocks), new CommandLine(command.spec()).parseArgs());

    assertThat(exit).isZero();
    assertThat(results.toString(UTF_8)).isEqualTo("No lock is held or waited for.\n");
  }
}
