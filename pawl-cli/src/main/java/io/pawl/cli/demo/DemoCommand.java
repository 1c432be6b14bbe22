package io.pawl.cli.demo;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl demo}: plays a fight over a lock, and a flash sale, in a directory of its own. */
public final class DemoCommand implements Command {

  private final Class<?> program;
  private final Output output;

  public DemoCommand(Class<?> program, Output output) {
    this.program = program;
    this.output = output;
  }

  @Override
  public CommandSpec spec() {
    return Specs.command("demo", "Locks and counters under fire: kills and stops processes.")
        .addPositional(
            PositionalParamSpec.builder()
                .index("0")
                .arity("0..1")
                .type(String.class)
                .paramLabel("lock|sale")
                .description("Only the fight over a lock, or only the flash sale.")
                .build())
        .addOption(
            OptionSpec.builder("--break")
                .type(String.class)
                .arity("1")
                .hidden(true)
                .description("Break the fence, the lock or the counter, to see the checks fail.")
                .build());
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    String what = arguments.matchedPositionalValue(0, "");
    if (!List.of("", "lock", "sale").contains(what)) {
      throw Failure.usage("demo " + Arguments.shown(what) + " is neither lock nor sale");
    }
    String broken = arguments.matchedOptionValue("--break", "");
    try {
      return play(what, Files.createTempDirectory("pawl-demo-"), broken);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts the demo", e);
    }
  }

  private int play(String what, Path directory, String broken)
      throws IOException, InterruptedException {
    int worst = Exit.OK;
    try (DemoProcesses processes = new DemoProcesses(program, directory)) {
      if (!what.equals("sale")) {
        Path place = Files.createDirectory(directory.resolve("lock"));
        worst = new LockDemo(place, broken, processes, output).play();
      }
      if (!what.equals("lock")) {
        Path place = Files.createDirectory(directory.resolve("sale"));
        worst = Math.max(worst, new SaleDemo(place, broken, processes, output).play());
      }
    }
    return worst;
  }
}
