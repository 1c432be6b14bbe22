package io.pawl.cli;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Json;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.cli.counter.CounterCommand;
import io.pawl.cli.demo.DemoCommand;
import io.pawl.cli.demo.DemoWorker;
import io.pawl.cli.demo.SaleWorker;
import io.pawl.cli.inspect.ListCommand;
import io.pawl.cli.inspect.ReleaseCommand;
import io.pawl.cli.inspect.ShowCommand;
import io.pawl.cli.run.RunCommand;
import io.pawl.cli.upkeep.PurgeCommand;
import io.pawl.cli.upkeep.TokensCommand;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** {@code pawl}: finds the command, and turns every failure into one line and an exit code. */
public final class Main {

  /** In the order of the help. */
  static final List<String> COMMANDS =
      List.of(
          "run",
          "list",
          "show",
          "release",
          "counter",
          "purge",
          "tokens",
          "schema",
          "quorum",
          "doctor",
          "demo",
          "completion",
          "man");

  private static final Pattern QUOTED_URL = Pattern.compile("'.*[^' ][:@][^' ].*'");

  private final Map<String, String> environment;
  private final Output output;

  Main(Map<String, String> environment, Output output) {
    this.environment = environment;
    this.output = output;
  }

  /** Ends the JVM: what has to be given back has been given back by then. */
  public static void main(String[] args) {
    NoLogging.configure();
    int exit = new Main(System.getenv(), Output.ofThisProcess()).run(List.of(args));
    Runtime.getRuntime().halt(exit);
  }

  int run(List<String> args) {
    int end = args.indexOf("--");
    boolean json = (end < 0 ? args : args.subList(0, end)).contains("--json");
    try {
      return dispatch(args);
    } catch (RuntimeException | Error e) {
      Failure failure = Failure.of(e);
      if (json) {
        output.event(
            new Json()
                .put("event", "error")
                .put("exit", failure.exit())
                .put("message", failure.message()));
      } else {
        output.remark(failure.message());
      }
      return failure.exit();
    }
  }

  private int dispatch(List<String> args) {
    String word = args.isEmpty() ? "" : args.get(0);
    switch (word) {
      case "-h", "--help" -> output.result(usage(wholeSpec()));
      case "help" ->
          output.result(usage(args.size() > 1 ? known(args.get(1)).spec() : wholeSpec()));
      case "-V", "--version" -> output.result("pawl " + version());
      case "" -> throw Failure.usage("a command is missing: " + known());
      default -> {
        return run(known(word), args.subList(1, args.size()));
      }
    }
    return Exit.OK;
  }

  private int run(Command command, List<String> args) {
    int end = command.takesRest() ? args.indexOf("--") : -1;
    List<String> before = end < 0 ? args : args.subList(0, end);
    List<String> after = end < 0 ? List.of() : args.subList(end + 1, args.size());
    CommandSpec spec = qualified(command.spec());
    CommandLine line = new CommandLine(spec).setExpandAtFiles(false).setTrimQuotes(false);
    ParseResult parsed;
    try {
      parsed = line.parseArgs(before.toArray(String[]::new));
    } catch (ParameterException e) {
      throw Failure.usage(said(e, spec));
    }
    if (parsed.isUsageHelpRequested()) {
      output.result(usage(spec));
      return Exit.OK;
    }
    return command.run(parsed, after);
  }

  /** Never repeats a value: it may be a URL with a password. */
  private static String said(ParameterException e, CommandSpec spec) {
    String what = QUOTED_URL.matcher(e.getMessage()).replaceAll(Arguments.HIDDEN);
    if (e instanceof UnmatchedArgumentException unmatched) {
      String first = unmatched.getUnmatched().get(0);
      what =
          first.startsWith("-")
              ? Arguments.shownOption(first) + " is unknown"
              : "too many arguments";
      if (spec.name().equals("pawl run")) {
        what += "; the command comes after --";
      } else if (first.startsWith("-") && !spec.positionalParameters().isEmpty()) {
        what += "; a name that begins with - comes after --";
      }
    }
    return what + "; see " + spec.name() + " --help";
  }

  private @Nullable Command command(String name) {
    return switch (name) {
      case "run" -> new RunCommand(environment, output);
      case "list" -> new ListCommand(environment, output);
      case "show" -> new ShowCommand(environment, output);
      case "release" -> new ReleaseCommand(environment, output);
      case "counter" -> new CounterCommand(environment, output);
      case "purge" -> new PurgeCommand(environment, output);
      case "tokens" -> new TokensCommand(environment, output);
      case "schema" -> new SchemaCommand(environment, output);
      case "quorum" -> new QuorumCommand(environment, output);
      case "doctor" -> new DoctorCommand(environment, output);
      case "demo" -> new DemoCommand(Main.class, output);
      case "demo-worker" -> new DemoWorker();
      case "demo-buyers" -> new SaleWorker();
      case "completion" -> new CompletionCommand(this::wholeSpec, output);
      case "man" -> new ManCommand(this::wholeSpec, output);
      default -> null;
    };
  }

  private Command known(String name) {
    Command command = command(name);
    if (command == null) {
      throw Failure.usage("command " + Arguments.shown(name) + " is unknown; known are " + known());
    }
    return command;
  }

  private static String known() {
    return String.join(", ", COMMANDS) + "; see pawl --help";
  }

  private CommandSpec wholeSpec() {
    CommandSpec spec =
        Specs.command("pawl", "Distributed locks on the store that you already run.")
            .addOption(
                OptionSpec.builder("-V", "--version")
                    .versionHelp(true)
                    .description("Show the version and exit.")
                    .build());
    for (String name : COMMANDS) {
      Command command = command(name);
      if (command != null) {
        spec.addSubcommand(name, command.spec());
      }
    }
    return spec;
  }

  private static CommandSpec qualified(CommandSpec spec) {
    return spec.name("pawl " + spec.name());
  }

  private static String usage(CommandSpec spec) {
    return new CommandLine(spec).getUsageMessage(Ansi.OFF).stripTrailing();
  }

  static String version() {
    String version = Main.class.getPackage().getImplementationVersion();
    return version == null ? "(development)" : version;
  }
}
