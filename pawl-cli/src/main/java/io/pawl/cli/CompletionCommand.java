package io.pawl.cli;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import java.util.List;
import java.util.function.Supplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl completion}: a script that makes the shell complete pawl's options. */
final class CompletionCommand implements Command {

  private final Supplier<CommandSpec> whole;
  private final Output output;

  CompletionCommand(Supplier<CommandSpec> whole, Output output) {
    this.whole = whole;
    this.output = output;
  }

  @Override
  public CommandSpec spec() {
    CommandSpec spec = Specs.command("completion", "Prints a completion script for a shell.");
    spec.usageMessage().footer("", "To use it now: source <(pawl completion bash)");
    return spec.addPositional(
        PositionalParamSpec.builder()
            .index("0")
            .arity("1")
            .type(String.class)
            .paramLabel("SHELL")
            .description("bash or zsh; the script is the same.")
            .build());
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    String shell = arguments.matchedPositionalValue(0, "");
    if (!shell.equals("bash") && !shell.equals("zsh")) {
      throw Failure.usage("shell " + Arguments.shown(shell) + " is none of bash, zsh");
    }
    output.result(AutoComplete.bash("pawl", new CommandLine(whole.get())).stripTrailing());
    return Exit.OK;
  }
}
