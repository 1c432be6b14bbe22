package io.pawl.cli.upkeep;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Json;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.spi.Maintainable;
import java.time.Duration;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl purge}: forgets the locks that nobody uses any more. */
public final class PurgeCommand extends UpkeepCommand {

  public PurgeCommand(Map<String, String> environment, Output output) {
    super(environment, output);
  }

  @Override
  public CommandSpec spec() {
    CommandSpec spec = Specs.command("purge", "Forgets locks that nobody uses any more.");
    spec.usageMessage()
        .customSynopsis("pawl purge --idle=DURATION [--store=URL] [--json]")
        .description(
            "A database remembers every lock that was ever used. This forgets those that nobody"
                + " holds or waits for and that were last used longer ago than DURATION. Their"
                + " tokens go on growing, should they be used again.");
    return spec.addOption(
            Specs.value(
                "DURATION",
                "For how long nobody has used them: at least 1h, such as 90d.",
                "--idle"))
        .addOption(Specs.store())
        .addOption(Specs.json("As one JSON object on one line."));
  }

  @Override
  Task task(ParseResult arguments) {
    String text = arguments.matchedOptionValue("--idle", null);
    if (text == null) {
      throw Failure.usage("--idle is missing: for how long nobody has used the locks, say 90d");
    }
    Duration idle = Arguments.duration("--idle", text);
    if (idle.compareTo(Maintainable.SHORTEST_IDLE) < 0) {
      throw Failure.usage("--idle: " + text + " is shorter than 1h");
    }
    boolean json = arguments.hasMatchedOption("--json");
    return maintenance -> {
      long purged = maintenance.purge(idle);
      output.result(
          json
              ? new Json().put("event", "purged").put("locks", purged).toString()
              : "forgot " + purged + " locks");
    };
  }
}
