package io.pawl.cli;

import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl man}: the manual page, in roff, from what the commands say of themselves. */
final class ManCommand implements Command {

  private final Supplier<CommandSpec> whole;
  private final Output output;

  ManCommand(Supplier<CommandSpec> whole, Output output) {
    this.whole = whole;
    this.output = output;
  }

  @Override
  public CommandSpec spec() {
    CommandSpec spec = Specs.command("man", "Prints the manual page.");
    spec.usageMessage().footer("", "To read it: pawl man | man -l -");
    return spec;
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    CommandSpec pawl = whole.get();
    StringBuilder page = new StringBuilder();
    page.append(".TH PAWL 1 \"\" \"pawl ").append(Main.version()).append("\"\n");
    page.append(".SH NAME\npawl \\- run commands under distributed locks\n");
    page.append(".SH SYNOPSIS\n.B pawl\n.I COMMAND\n[\n.I OPTIONS\n]\n");
    for (CommandLine command : pawl.subcommands().values()) {
      section(page, command);
    }
    output.result(page.toString().stripTrailing());
    return Exit.OK;
  }

  private static void section(StringBuilder page, CommandLine command) {
    CommandSpec spec = command.getCommandSpec();
    page.append(".SH pawl ").append(spec.name()).append('\n');
    for (String line : spec.usageMessage().description()) {
      page.append(escaped(line)).append('\n');
    }
    page.append(".PP\n.nf\n")
        .append(escaped(command.getHelp().synopsis(0).strip()))
        .append("\n.fi\n");
    for (OptionSpec option : spec.options()) {
      String label = option.arity().max() == 0 ? "" : " " + option.paramLabel();
      page.append(".TP\n.B ").append(escaped(String.join(", ", option.names()) + label));
      page.append('\n').append(escaped(String.join(" ", option.description()))).append('\n');
    }
    String footer = String.join("\n", spec.usageMessage().footer()).strip();
    if (!footer.isEmpty()) {
      page.append(".PP\n").append(escaped(footer)).append('\n');
    }
  }

  private static String escaped(String text) {
    return text.replace("\\", "\\e").replace("-", "\\-").replaceAll("(?m)^([.'])", "\\\\&$1");
  }
}
