package io.pawl.cli.counter;

import io.pawl.Pawl;
import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Json;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.cli.command.StoreSetting;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.options.PawlOptions;
import io.pawl.spi.CounterStore;
import io.pawl.spi.LockStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl counter}: reads and changes counters. */
public final class CounterCommand implements Command {

  private final Map<String, String> environment;
  private final Output output;

  public CounterCommand(Map<String, String> environment, Output output) {
    this.environment = environment;
    this.output = output;
  }

  @Override
  public CommandSpec spec() {
    CommandSpec spec = Specs.command("counter", "Reads and changes a counter.");
    // so that -5 is a number; what looks like an option otherwise is refused by words()
    spec.parser().unmatchedOptionsArePositionalParams(true);
    List<String> synopsis = new ArrayList<>();
    for (CounterVerb verb : CounterVerb.values()) {
      synopsis.add((synopsis.isEmpty() ? "" : "       ") + verb.usage());
    }
    synopsis.add("       pawl counter " + CounterVerb.LIST);
    spec.usageMessage()
        .customSynopsis(synopsis.toArray(String[]::new))
        .description(
            "A change prints the counter's value just after it, and is made at most once under its"
                + " id. AMOUNT is 1 unless given.")
        .footer(
            "",
            "A name or an id that begins with - comes after --, such as",
            "pawl counter outcome tickets -- -17a. --id takes any.",
            "",
            "Exit code: 0 done; 75 refused, nothing was changed; 74 the change was sent and",
            "not answered: ask with pawl counter outcome, or repeat it under its id; 65 the",
            "id stands for another change or is too old; others as of pawl run.");
    return spec.addPositional(
            PositionalParamSpec.builder()
                .index("0..*")
                .arity("0..*")
                .type(String[].class)
                .paramLabel("VERB")
                .description("What to do, the counter's name, and what that needs; as above.")
                .build())
        .addOption(
            Specs.value(
                "ID",
                "Of this change: however often it is repeated under it, it is made once. 1 to 250"
                    + " bytes. Default: a new one.",
                "--id"))
        .addOption(
            Specs.value(
                "DURATION",
                "How long a reservation stays open; not confirmed by then it returns to stock.",
                "--ttl"))
        .addOption(Specs.value("N", "How many lines of history. Default 20.", "--limit"))
        .addOption(
            Specs.value(
                "DURATION",
                "Operations whose ids were first used longer ago are forgotten, and refused from"
                    + " then on.",
                "--older"))
        .addOption(
            Specs.value(
                "DURATION",
                "With outcome, confirm and cancel: the id was first used within this time. Without,"
                    + " one that a counter with a pruned ledger does not know may have been"
                    + " forgotten.",
                "--within"))
        .addOption(Specs.store())
        .addOption(Specs.json("As one JSON object per line."));
  }

  @Override
  public boolean takesRest() {
    return true;
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    List<String> words = words(arguments, rest);
    CounterTask task = asksForList(words, arguments) ? null : CounterTask.read(words, arguments);
    boolean json = arguments.hasMatchedOption("--json");
    StoreSetting setting =
        StoreSetting.find(arguments.matchedOptionValue("--store", null), environment);
    try (LockStore store = setting.open()) {
      if (store instanceof CounterStore counters && counters.hasCounters()) {
        return task == null ? list(store, json) : perform(task, store, json);
      }
      throw new Failure(
          Exit.CONFIGURATION, setting + ": this store has no counters; keep them on SQL or Redis");
    }
  }

  private static boolean asksForList(List<String> words, ParseResult arguments) {
    if (words.isEmpty() || !words.get(0).equals(CounterVerb.LIST)) {
      return false;
    }
    if (words.size() > 1) {
      throw Failure.usage("write: pawl counter " + CounterVerb.LIST);
    }
    for (String option : List.of("--id", "--ttl", "--limit", "--older", "--within")) {
      if (arguments.hasMatchedOption(option)) {
        throw Failure.usage(option + " does not go with " + CounterVerb.LIST);
      }
    }
    return true;
  }

  private int list(LockStore store, boolean json) {
    PawlOptions client = PawlOptions.defaults().application("pawl counter");
    try (Pawl pawl = Pawl.over(store, client.releaseAtShutdown(false))) {
      for (String counter : pawl.maintenance().counters()) {
        output.result(json ? new Json().put("counter", counter).toString() : counter);
      }
    }
    return Exit.OK;
  }

  int perform(CounterTask task, LockStore store, boolean json) {
    PawlOptions client = PawlOptions.defaults().application("pawl counter");
    CounterReport report = new CounterReport(task.counter(), task.verb(), json, output);
    try (Pawl pawl = Pawl.over(store, client.releaseAtShutdown(false))) {
      return task.step().run(pawl.counter(task.counter()), report);
    } catch (OutcomeUnknownException e) {
      return report.unknown(e);
    }
  }

  /**
   * All words, those after {@code --} as they are. Among the others is no option that does not
   * exist; its value may be a URL with a password.
   */
  static List<String> words(ParseResult arguments, List<String> rest) {
    List<String> words =
        new ArrayList<>(List.of(arguments.matchedPositionalValue(0, new String[0])));
    for (String word : words) {
      if (word.startsWith("-") && !word.matches("-\\d+")) {
        throw Failure.usage(
            Arguments.shownOption(word)
                + " is unknown; a name or an id that begins with - comes after --; see pawl counter"
                + " --help");
      }
    }
    words.addAll(rest);
    return words;
  }
}
