package io.pawl.cli.run;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.cli.command.StoreSetting;
import io.pawl.spi.Claim;
import io.pawl.spi.DurationText;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl run}: reads and checks what was asked for. */
public final class RunCommand implements Command {

  private static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);
  private static final Duration DEFAULT_KILL_AFTER = Duration.ofSeconds(5);
  private static final Pattern PERMITS = Pattern.compile("(\\d{1,9})/(\\d{1,9})");

  private final Map<String, String> environment;
  private final Output output;

  public RunCommand(Map<String, String> environment, Output output) {
    this.environment = environment;
    this.output = output;
  }

  @Override
  public CommandSpec spec() {
    CommandSpec spec = Specs.command("run", "Runs a command while holding a lock.");
    spec.usageMessage()
        .customSynopsis(
            "pawl run [OPTIONS] NAME -- COMMAND [ARGUMENT...]",
            "       pawl run [OPTIONS] NAME -c SCRIPT [-- ARGUMENT...]")
        .footer(
            "",
            "Durations: 500ms, 30s, 5m, 2h, 1d or PT30S.",
            "Exit code: the command's, or 128 + n when signal n ended it; 64 usage,",
            "69 store unavailable, 70 internal error, 75 busy, 76 lease lost, 77 denied,",
            "78 configuration, 126 not executable, 127 not found.",
            "",
            "The command finds PAWL_LOCK, PAWL_TOKEN, PAWL_HOLDER and PAWL_EXPIRES_AT in",
            "its environment; the last is the expiry when it started, renewal moves it.");
    return spec.addPositional(Specs.lockName())
        .addOption(Specs.value("SCRIPT", "Run SCRIPT with /bin/sh instead of a command.", "-c"))
        .addOption(
            Specs.flag(
                "Hold the lock together with others that say so, as a reader; without, alone.",
                "--shared"))
        .addOption(
            Specs.value(
                "K/N",
                "Hold K of the N permits of a semaphore of this name; all have to say the same N.",
                "--permits"))
        .addOption(
            Specs.value(
                "DURATION", "Wait so long for the lock. Default: until it is free.", "--wait"))
        .addOption(Specs.flag("Do not wait; exit 75 when the lock is busy.", "-n", "--no-wait"))
        .addOption(
            Specs.flag(
                "Exit 0 when the lock is busy. Does not wait without --wait.", "--skip-if-busy"))
        .addOption(
            Specs.value(
                "DURATION",
                "How long the lock outlives a pawl that dies; renewed every third of it. 100 ms"
                    + " to 7 days, default 30s.",
                "--lease"))
        .addOption(
            Specs.value(
                "DURATION",
                "Keep the lock at least so long, even if the command is faster or pawl is killed; up"
                    + " to 7 days.",
                "--min-hold"))
        .addOption(
            Specs.value("DURATION", "Stop the command when it runs longer than this.", "--max-run"))
        .addOption(
            Specs.value(
                "DURATION",
                "Between TERM and KILL when the command is stopped. At most half the lease,"
                    + " default 5s or a quarter of the lease if that is less.",
                "--kill-after"))
        .addOption(
            Specs.value(
                "ACTION",
                "When the lease is about to be lost: term (TERM, then KILL; the default), kill, or"
                    + " warn.",
                "--on-lost"))
        .addOption(Specs.value("TEXT", "Who holds the lock, for others to read.", "--holder"))
        .addOption(Specs.store())
        .addOption(Specs.json("Say each step on standard error, one JSON object per line."));
  }

  @Override
  public boolean takesRest() {
    return true;
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    RunOptions options = read(arguments, rest);
    StoreSetting setting =
        StoreSetting.find(arguments.matchedOptionValue("--store", null), environment);
    Signals signals = new Signals(Thread.currentThread());
    return new Run(options, setting::open, environment, output, System::nanoTime, signals)
        .execute();
  }

  private static RunOptions read(ParseResult arguments, List<String> rest) {
    String lock = Arguments.lockName(arguments);
    String script = arguments.matchedOptionValue("-c", null);
    List<String> command = command(script, rest);
    Duration lease = lease(arguments);
    boolean skip = arguments.hasMatchedOption("--skip-if-busy");
    String holder = arguments.matchedOptionValue("--holder", null);
    return new RunOptions(
        lock,
        mode(arguments),
        command,
        script == null,
        wait(arguments, skip),
        skip,
        lease,
        minHold(arguments),
        maxRun(arguments),
        killAfter(arguments, lease),
        onLost(arguments.matchedOptionValue("--on-lost", "term")),
        holder == null ? baseName(command.get(0)) : Arguments.text("--holder", holder),
        arguments.hasMatchedOption("--json"));
  }

  private static Mode mode(ParseResult arguments) {
    String permits = arguments.matchedOptionValue("--permits", null);
    boolean shared = arguments.hasMatchedOption("--shared");
    if (permits == null) {
      return shared ? Mode.SHARED : Mode.EXCLUSIVE;
    }
    if (shared) {
      throw Failure.usage(
          "--shared and --permits exclude each other: a name is a lock's or a semaphore's");
    }
    Matcher numbers = PERMITS.matcher(permits);
    if (!numbers.matches()) {
      throw Failure.usage(
          "--permits: "
              + Arguments.shown(permits)
              + " is not K/N with up to 9 digits each, such as 1/3");
    }
    int wanted = Integer.parseInt(numbers.group(1));
    int capacity = Integer.parseInt(numbers.group(2));
    if (capacity < 1) {
      throw Failure.usage("--permits: " + permits + ": a semaphore has at least 1 permit");
    }
    if (wanted < 1 || wanted > capacity) {
      throw Failure.usage(
          "--permits: "
              + permits
              + " asks for "
              + wanted
              + "; write 1 to "
              + capacity
              + " of them");
    }
    return new Mode.Permits(wanted, capacity);
  }

  private static List<String> command(@Nullable String script, List<String> rest) {
    rest.forEach(argument -> Arguments.text("command", argument));
    if (script == null) {
      if (rest.isEmpty()) {
        throw Failure.usage("the command is missing; write pawl run NAME -- COMMAND");
      }
      return rest;
    }
    List<String> shell =
        new ArrayList<>(List.of("/bin/sh", "-c", Arguments.text("-c", script), "sh"));
    shell.addAll(rest);
    return shell;
  }

  private static @Nullable Duration wait(ParseResult arguments, boolean skip) {
    boolean waits = arguments.hasMatchedOption("--wait");
    if (arguments.hasMatchedOption("--no-wait")) {
      if (waits) {
        throw Failure.usage("--wait and --no-wait exclude each other");
      }
      return Duration.ZERO;
    }
    if (!waits) {
      return skip ? Duration.ZERO : null;
    }
    return duration(arguments, "--wait", Duration.ZERO);
  }

  private static Duration lease(ParseResult arguments) {
    Duration lease = duration(arguments, "--lease", DEFAULT_LEASE);
    if (lease.compareTo(Claim.MIN_LEASE) < 0 || lease.compareTo(Claim.MAX_LEASE) > 0) {
      throw Failure.usage(
          "--lease: "
              + arguments.matchedOptionValue("--lease", "")
              + " is not between 100ms and 7d");
    }
    return lease;
  }

  private static Duration minHold(ParseResult arguments) {
    Duration shortest = duration(arguments, "--min-hold", Duration.ZERO);
    if (shortest.compareTo(Claim.MAX_LEASE) > 0) {
      throw Failure.usage(
          "--min-hold: " + arguments.matchedOptionValue("--min-hold", "") + " is more than 7d");
    }
    return shortest;
  }

  private static Duration maxRun(ParseResult arguments) {
    Duration longest = duration(arguments, "--max-run", DurationText.LONGEST);
    if (longest.toMillis() < 1) {
      throw Failure.usage("--max-run: leaves the command no time; give it at least 1ms");
    }
    return longest;
  }

  /** Renewal leaves at least 65 % of the lease: half of it is always there to stop the command. */
  private static Duration killAfter(ParseResult arguments, Duration lease) {
    Duration quarter = lease.dividedBy(4);
    Duration chosen =
        duration(
            arguments,
            "--kill-after",
            DEFAULT_KILL_AFTER.compareTo(quarter) < 0 ? DEFAULT_KILL_AFTER : quarter);
    if (chosen.compareTo(lease.dividedBy(2)) > 0) {
      throw Failure.usage(
          "--kill-after: "
              + DurationText.format(chosen)
              + " is more than half of the lease of "
              + DurationText.format(lease)
              + ", so that another could be let in before the command is stopped; lengthen --lease");
    }
    return chosen;
  }

  private static Duration duration(ParseResult arguments, String option, Duration otherwise) {
    String text = arguments.matchedOptionValue(option, null);
    return text == null ? otherwise : Arguments.duration(option, text);
  }

  private static OnLost onLost(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "term" -> OnLost.TERM;
      case "kill" -> OnLost.KILL;
      case "warn" -> OnLost.WARN;
      default ->
          throw Failure.usage(
              "--on-lost: " + Arguments.shown(text) + " is none of term, kill, warn");
    };
  }

  private static String baseName(String command) {
    return command.substring(command.lastIndexOf('/') + 1);
  }
}
