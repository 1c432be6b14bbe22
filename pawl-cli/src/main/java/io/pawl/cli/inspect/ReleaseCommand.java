package io.pawl.cli.inspect;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Json;
import io.pawl.cli.command.LockText;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl release}: ends a hold from outside. Its holder learns at its next renewal. */
public final class ReleaseCommand extends InspectCommand {

  public ReleaseCommand(Map<String, String> environment, Output output) {
    super(environment, output);
  }

  @Override
  public CommandSpec spec() {
    CommandSpec spec = Specs.command("release", "Takes a lock away from its holder.");
    spec.usageMessage()
        .customSynopsis("pawl release NAME (--token=N | --force) [--store=URL] [--json]")
        .description(
            "The holder learns of it at its next renewal, up to a third of its lease later; until"
                + " then two can believe that they hold it.");
    return spec.addPositional(Specs.lockName())
        .addOption(Specs.value("N", "Only the hold with this token; see pawl list.", "--token"))
        .addOption(Specs.flag("Whoever holds it.", "--force"))
        .addOption(Specs.store())
        .addOption(Specs.json("As one JSON object on one line."));
  }

  @Override
  void check(ParseResult arguments) {
    Arguments.lockName(arguments);
    String token = arguments.matchedOptionValue("--token", null);
    if ((token == null) != arguments.hasMatchedOption("--force")) {
      throw Failure.usage("say which hold to end: --token N (see pawl list), or --force for any");
    }
    if (token != null && !token.matches("[1-9]\\d{0,15}")) {
      throw Failure.usage("--token: " + Arguments.shown(token) + " is no token; see pawl list");
    }
  }

  @Override
  int inspect(Inspectable store, ParseResult arguments) {
    String name = Arguments.lockName(arguments);
    String token = arguments.matchedOptionValue("--token", null);
    return token == null
        ? releaseAll(store, name, arguments)
        : releaseOne(store, name, Long.parseLong(token), arguments);
  }

  private int releaseOne(Inspectable store, String name, long token, ParseResult arguments) {
    if (await(store.evict(name, token))) {
      say(name, token, arguments);
      return Exit.OK;
    }
    List<ClaimView> holders = holders(store, name);
    String stands =
        holders.isEmpty() ? "nobody holds it" : LockText.describe(holders.get(0)) + " holds it";
    throw new Failure(
        Exit.LOST,
        "lock '"
            + name
            + "' is not held under token "
            + token
            + "; nothing was released: "
            + stands);
  }

  /** All of them, whether anybody reads of it or not. */
  private int releaseAll(Inspectable store, String name, ParseResult arguments) {
    Failure unsaid = null;
    List<Long> gone = new ArrayList<>();
    for (ClaimView claim : holders(store, name)) {
      if (!await(store.evict(name, claim.token()))) {
        gone.add(claim.token());
        continue;
      }
      try {
        say(name, claim.token(), arguments);
      } catch (Failure e) {
        unsaid = e;
      }
    }
    if (!gone.isEmpty()) {
      refuseIfHeld(store, name, gone);
    }
    if (unsaid != null) {
      throw unsaid;
    }
    return Exit.OK;
  }

  /** Whoever holds it now may be a later holder, whom nobody has looked at. */
  private static void refuseIfHeld(Inspectable store, String name, List<Long> gone) {
    List<ClaimView> holders = holders(store, name);
    if (!holders.isEmpty()) {
      throw new Failure(
          Exit.LOST,
          "lock '"
              + name
              + "' changed hands meanwhile: what was held under token "
              + gone.stream().map(String::valueOf).collect(Collectors.joining(", "))
              + " had ended by itself; "
              + LockText.describe(holders.get(0))
              + " holds it now");
    }
  }

  private static List<ClaimView> holders(Inspectable store, String name) {
    return await(store.show(name)).map(LockView::holders).orElse(List.of());
  }

  private void say(String name, long token, ParseResult arguments) {
    if (arguments.hasMatchedOption("--json")) {
      Json event = new Json().put("event", "released").put("lock", name).put("token", token);
      output.result(event.toString());
    } else {
      output.result("released lock '" + name + "', token " + token);
    }
  }
}
