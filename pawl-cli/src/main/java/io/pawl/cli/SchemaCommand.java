package io.pawl.cli;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.cli.command.StoreSetting;
import io.pawl.error.StoreDeniedException;
import io.pawl.spi.SchemaSource;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl schema}: shows or creates the tables of a database. */
final class SchemaCommand implements Command {

  private final Map<String, String> environment;
  private final Output output;

  SchemaCommand(Map<String, String> environment, Output output) {
    this.environment = environment;
    this.output = output;
  }

  @Override
  public CommandSpec spec() {
    CommandSpec spec = Specs.command("schema", "Prints or creates the tables of a database.");
    spec.usageMessage()
        .description(
            "The statements may be run any number of times. Stores create their tables themselves on"
                + " first use; this is for accounts that may not.");
    return spec.addPositional(
            PositionalParamSpec.builder()
                .index("0")
                .arity("1")
                .type(String.class)
                .paramLabel("print|apply")
                .description("print asks no server; apply creates what is missing.")
                .build())
        .addOption(Specs.store());
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    String action = arguments.matchedPositionalValue(0, "");
    if (!action.equals("print") && !action.equals("apply")) {
      throw Failure.usage("schema " + Arguments.shown(action) + " is neither print nor apply");
    }
    StoreSetting setting =
        StoreSetting.find(arguments.matchedOptionValue("--store", null), environment);
    if (action.equals("print")) {
      output.result(setting.withSchema(SchemaSource::schema).stripTrailing());
    } else {
      apply(setting);
      output.result("the tables are there: store " + setting);
    }
    return Exit.OK;
  }

  private static void apply(StoreSetting setting) {
    try {
      setting.withSchema(
          (source, url) -> {
            source.createSchema(url);
            return "";
          });
    } catch (StoreDeniedException e) {
      throw new Failure(
          Exit.DENIED,
          e.getMessage() + "; let an account that may create tables run what schema print prints");
    }
  }
}
