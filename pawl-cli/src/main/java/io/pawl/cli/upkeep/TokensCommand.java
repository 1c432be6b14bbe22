package io.pawl.cli.upkeep;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Json;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.spi.Maintainable;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl tokens raise}: makes tokens grow on after a store was restored. */
public final class TokensCommand extends UpkeepCommand {

  public TokensCommand(Map<String, String> environment, Output output) {
    super(environment, output);
  }

  @Override
  public CommandSpec spec() {
    CommandSpec spec = Specs.command("tokens", "Raises the fencing tokens of all locks.");
    spec.usageMessage()
        .customSynopsis("pawl tokens raise [--by=N] [--store=URL] [--json]")
        .description(
            "For after a restore from a backup, or a failover that has lost commits: the store may"
                + " have granted larger tokens than it knows. Run it before clients use the store"
                + " again. It may be repeated.");
    return spec.addPositional(
            PositionalParamSpec.builder()
                .index("0")
                .arity("1")
                .type(String.class)
                .paramLabel("raise")
                .description("The one thing that can be done with them.")
                .build())
        .addOption(
            Specs.value(
                "N",
                "By how much: 1 to 2^50. Default 2^40, which is more than can have been lost.",
                "--by"))
        .addOption(Specs.store())
        .addOption(Specs.json("As one JSON object on one line."));
  }

  @Override
  Task task(ParseResult arguments) {
    String action = arguments.matchedPositionalValue(0, "");
    if (!action.equals("raise")) {
      throw Failure.usage(
          "tokens " + Arguments.shown(action) + " is unknown; write: pawl tokens raise");
    }
    long by =
        by(arguments.matchedOptionValue("--by", Long.toString(Maintainable.TOKENS_RAISED_BY)));
    boolean json = arguments.hasMatchedOption("--json");
    return maintenance -> {
      long locks = maintenance.raiseTokens(by);
      output.result(
          json
              ? new Json().put("event", "raised").put("locks", locks).put("by", by).toString()
              : "raised the tokens of " + locks + " locks, and of all to come, by " + by);
    };
  }

  private static long by(String text) {
    if (!text.matches("[1-9]\\d{0,15}") || Long.parseLong(text) > Maintainable.MOST_RAISED) {
      throw Failure.usage("--by: " + Arguments.shown(text) + " is not a number between 1 and 2^50");
    }
    return Long.parseLong(text);
  }
}
