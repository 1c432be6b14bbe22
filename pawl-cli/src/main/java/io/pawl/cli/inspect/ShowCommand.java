package io.pawl.cli.inspect;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.LockText;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl show}: one lock with its holders and waiters. */
public final class ShowCommand extends InspectCommand {

  public ShowCommand(Map<String, String> environment, Output output) {
    super(environment, output);
  }

  @Override
  public CommandSpec spec() {
    return Specs.command("show", "Shows one lock, its holders and those who wait for it.")
        .addPositional(Specs.lockName())
        .addOption(Specs.store())
        .addOption(Specs.json("As one JSON object on one line."));
  }

  @Override
  void check(ParseResult arguments) {
    Arguments.lockName(arguments);
  }

  @Override
  int inspect(Inspectable store, ParseResult arguments) {
    String name = Arguments.lockName(arguments);
    LockView lock =
        await(store.show(name)).orElseGet(() -> new LockView(name, null, 0, List.of(), List.of()));
    if (arguments.hasMatchedOption("--json")) {
      output.result(LockText.json(lock).toString());
      return Exit.OK;
    }
    output.result("lock        " + lock.name());
    output.result("kind        " + LockText.kind(lock));
    output.result("state       " + LockText.state(lock));
    output.result("last token  " + (lock.lastToken() == 0 ? "none yet" : "" + lock.lastToken()));
    for (ClaimView claim : lock.holders()) {
      output.result(
          "held by     "
              + LockText.describe(claim)
              + " expires in "
              + LockText.left(claim)
              + " unless renewed");
    }
    for (ClaimView claim : lock.waiters()) {
      output.result(
          "waiting     " + LockText.who(claim.holder()) + " for " + LockText.since(claim));
    }
    return Exit.OK;
  }
}
