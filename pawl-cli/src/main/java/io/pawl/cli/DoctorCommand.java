package io.pawl.cli;

import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Json;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.cli.command.StoreSetting;
import io.pawl.cli.run.LauncherEnvironment;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.LockStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl doctor}: looks at the installation and the store, and says what to mend. */
final class DoctorCommand implements Command {

  private final Map<String, String> environment;
  private final Output output;

  DoctorCommand(Map<String, String> environment, Output output) {
    this.environment = environment;
    this.output = output;
  }

  @Override
  public CommandSpec spec() {
    return Specs.command("doctor", "Examines the installation and the store.")
        .addOption(Specs.store())
        .addOption(Specs.json("One JSON object per finding and line."));
  }

  @Override
  public int run(ParseResult arguments, List<String> rest) {
    List<Finding> findings = new ArrayList<>();
    findings.add(ok("pawl " + Main.version() + " on Java " + Runtime.version()));
    findings.add(guard());
    findings.add(signals());
    int exit = examineStore(arguments.matchedOptionValue("--store", null), findings);
    boolean json = arguments.hasMatchedOption("--json");
    for (Finding finding : findings) {
      output.result(json ? json(finding).toString() : text(finding));
    }
    return exit;
  }

  private int examineStore(String option, List<Finding> findings) {
    try {
      StoreSetting setting = StoreSetting.find(option, environment);
      try (LockStore store = setting.open()) {
        findings.add(ok("store " + setting + " opens"));
        if (store instanceof Diagnosable diagnosable) {
          findings.addAll(diagnosable.diagnose());
        }
      }
    } catch (RuntimeException e) {
      Failure failure = Failure.of(e);
      findings.add(new Finding(Level.PROBLEM, failure.message(), ""));
      return failure.exit();
    }
    boolean problem = findings.stream().anyMatch(f -> f.level() == Level.PROBLEM);
    return problem ? Exit.CONFIGURATION : Exit.OK;
  }

  private static Finding ok(String what) {
    return new Finding(Level.OK, what, "");
  }

  private Finding guard() {
    if (!Files.isReadable(Path.of("/proc/uptime"))) {
      return unguarded("that is noticed on Linux only", "pass PAWL_TOKEN along with every write");
    }
    return isOnPath("timeout") && isOnPath("grep")
        ? ok("a command is stopped when its pawl is killed or stopped")
        : unguarded(
            "timeout and grep are not both on the PATH",
            "install coreutils and grep, or busybox; pass PAWL_TOKEN along with every write");
  }

  private static Finding unguarded(String why, String fix) {
    return new Finding(Level.WARNING, "a command goes on when its pawl is killed: " + why, fix);
  }

  private boolean isOnPath(String program) {
    return Stream.of(environment.getOrDefault("PATH", "").split(":", -1))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, program)));
  }

  private Finding signals() {
    return LauncherEnvironment.freesUsr2(environment)
        ? ok("signals HUP, INT, TERM, USR1 and USR2 reach the command")
        : new Finding(
            Level.WARNING,
            "USR2 does not reach the command",
            "start pawl with its launcher script");
  }

  private static String text(Finding finding) {
    String mark =
        switch (finding.level()) {
          case OK -> "ok       ";
          case WARNING -> "warning  ";
          case PROBLEM -> "problem  ";
        };
    return mark + finding.what() + (finding.fix().isEmpty() ? "" : "; " + finding.fix());
  }

  private static Json json(Finding finding) {
    return new Json()
        .put("level", finding.level().toString())
        .put("what", finding.what())
        .put("fix", finding.fix());
  }
}
