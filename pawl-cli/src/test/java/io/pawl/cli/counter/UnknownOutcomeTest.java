package io.pawl.cli.counter;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.command.Output;
import io.pawl.memory.MemoryStore;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** The change was made, its answer was lost, and the store is gone. */
class UnknownOutcomeTest {

  private final ByteArrayOutputStream results = new ByteArrayOutputStream();
  private final ByteArrayOutputStream remarks = new ByteArrayOutputStream();
  private final Output output =
      new Output(
          new PrintStream(results, true, StandardCharsets.UTF_8),
          new PrintStream(remarks, true, StandardCharsets.UTF_8));
  private final CounterCommand command = new CounterCommand(Map.of(), output);

  private int run(FaultyStore store, String... args) {
    ParseResult arguments = new CommandLine(command.spec()).parseArgs(args);
    CounterTask task = CounterTask.read(CounterCommand.words(arguments, List.of()), arguments);
    return command.perform(task, store, args[args.length - 1].equals("--json"));
  }

  @Test
  void exit74NamesTheIdThatTellsAndThatMakesARepetitionHarmless() {
    try (MemoryStore memory = new MemoryStore()) {
      FaultyStore store = new FaultyStore(memory);
      assertThat(run(store, "set", "sku", "5")).isZero();
      results.reset();
      store.next(Verb.APPLY, Fault.LOSE_REPLY, Fault.DENY);
      assertThat(run(store, "take", "sku", "2", "--id", "order-7")).isEqualTo(74);
      assertThat(results.toString(StandardCharsets.UTF_8)).isEmpty();
      assertThat(remarks.toString(StandardCharsets.UTF_8))
          .contains("not known")
          .endsWith("order-7\n")
          .hasLineCount(1);

      assertThat(run(store, "outcome", "sku", "order-7")).isZero();
      assertThat(run(store, "take", "sku", "2", "--id", "order-7")).isZero();
      assertThat(results.toString(StandardCharsets.UTF_8)).isEqualTo("applied\n3\n");
    }
  }

  @Test
  void anIdThatBeginsWithADashIsAskedForBehindTwo() {
    try (MemoryStore memory = new MemoryStore()) {
      FaultyStore store = new FaultyStore(memory);
      store.next(Verb.APPLY, Fault.LOSE_REPLY, Fault.DENY);
      assertThat(run(store, "add", "sku", "5", "--id", "-order")).isEqualTo(74);
      assertThat(remarks.toString(StandardCharsets.UTF_8)).endsWith("outcome NAME -- -order\n");
    }
  }

  @Test
  void jsonCarriesTheIdThatWasMadeForIt() {
    try (MemoryStore memory = new MemoryStore()) {
      FaultyStore store = new FaultyStore(memory);
      store.next(Verb.APPLY, Fault.LOSE_REPLY, Fault.DENY);
      assertThat(run(store, "add", "sku", "5", "--json")).isEqualTo(74);
      String event = remarks.toString(StandardCharsets.UTF_8);
      assertThat(event).startsWith("{\"event\":\"unknown\",\"exit\":74,\"id\":\"");
      String id = event.replaceAll("(?s).*\"id\":\"([^\"]+)\".*", "$1");
      assertThat(run(store, "outcome", "sku", id)).isZero();
      assertThat(results.toString(StandardCharsets.UTF_8)).isEqualTo("applied\n");
    }
  }
}
