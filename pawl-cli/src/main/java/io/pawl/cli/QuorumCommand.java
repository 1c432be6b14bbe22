package io.pawl.cli;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.cli.command.StoreSetting;
import io.pawl.spi.LockStore;
import io.pawl.spi.QuorumNode.Quorum;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl quorum init}: declares the nodes of a quorum new. */
final class QuorumCommand implements Command {

  private final Map<String, String> environment;
  private final Output output;

  QuorumCommand(Map<String, String> environment, Output output) {
    this.environment = environment;
    this.output = output;
  }

  @Override
  public CommandSpec spec() {
    CommandSpec spec = Specs.command("quorum", "Declares the nodes of a quorum new.");
    spec.usageMessage()
        .customSynopsis("pawl quorum init [--store=URL]")
        .description(
            "Run it once, before the first client of a new quorum, with all nodes up. A quorum that"
                + " nobody has declared new grants nothing for its longest lease. Never run it"
                + " later: where a node has forgotten a holder, it lets a second one in.");
    return spec.addPositional(
            PositionalParamSpec.builder()
                .index("0")
                .arity("1")
                .type(String.class)
                .paramLabel("init")
                .description("The one thing that can be done with it.")
                .build())
        .addOption(Specs.store());
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    String action = arguments.matchedPositionalValue(0, "");
    if (!action.equals("init")) {
      throw Failure.usage(
          "quorum " + Arguments.shown(action) + " is unknown; write: pawl quorum init");
    }
    StoreSetting setting =
        StoreSetting.find(arguments.matchedOptionValue("--store", null), environment);
    try (LockStore store = setting.open()) {
      if (!(store instanceof Quorum quorum)) {
        throw new Failure(
            Exit.CONFIGURATION, "store " + setting + " is no quorum; name quorum:URL|URL|URL");
      }
      quorum.initialize();
    }
    output.result("all nodes vote: store " + setting);
    return Exit.OK;
  }
}
