package io.pawl.bench;

import io.pawl.bench.report.JsonReport;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Table;
import io.pawl.bench.report.Target;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code bench SUITE…}: measures Pawl beside its rivals and prints what came out. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures Pawl beside its rivals, in one run on this machine.",
    footer = {
      "",
      "The defaults give a first impression. Figures to publish need an idle machine and:",
      "  bench SUITE --forks 5 --seconds 10 --warm-up 5",
      "",
      "Exit codes: 0 measured, 1 a target was missed (with --strict), 64 usage, 70 failed,",
      "  and above all: two had one lock at once, or a counter was not conserved."
    })
public final class Bench implements Callable<Integer> {

  private static final int MISSED = 1;
  private static final int USAGE = 64;
  private static final int FAILED = 70;
  private static final long MOST_TAKES = 1_000_000_000;

  @Parameters(paramLabel = "SUITE", description = "What to measure; none lists the suites.")
  private List<String> suites = new ArrayList<>();

  @Option(
      names = "--forks",
      defaultValue = "3",
      description = "Runs of each side in fresh processes (default ${DEFAULT-VALUE}).")
  private int forks;

  @Option(
      names = "--seconds",
      defaultValue = "0",
      description = "Measured time of each (default 2, for redis-held 60).")
  private double seconds;

  @Option(
      names = "--warm-up",
      defaultValue = "1",
      description = "Seconds before that (default ${DEFAULT-VALUE}).")
  private double warmUpSeconds;

  @Option(
      names = "--threads",
      defaultValue = "0",
      description = "Threads where a contest has several (default its own number).")
  private int threads;

  @Option(
      names = "--virtual",
      description = "Those who contend are virtual threads (Java 21 or later).")
  private boolean virtualThreads;

  @Option(
      names = "--only",
      defaultValue = "",
      description = "Only contests whose title contains this.")
  private String only = "";

  @Option(
      names = "--sides",
      defaultValue = "",
      description = "Only sides of a contest whose name contains this; targets need them all.")
  private String sides = "";

  @Option(
      names = "--takes",
      defaultValue = "10000000",
      description = "Takes of the suite counters-soak (default ${DEFAULT-VALUE}).")
  private long takes;

  @Option(
      names = "--seed",
      description = "From which its faults follow (default a new one, which it says).")
  private @Nullable Long seed;

  @Option(names = "--jvm", paramLabel = "ARG", description = "An argument for the forks' JVM.")
  private List<String> jvmArguments = new ArrayList<>();

  @Option(
      names = "--folder",
      description = "Where stores put their files (default the system's temporary folder).")
  private @Nullable Path folder;

  @Option(
      names = "--pawl",
      defaultValue = "./pawl",
      description = "The command that the suite startup measures (default ${DEFAULT-VALUE}).")
  private String pawl = "./pawl";

  @Option(names = "--json", paramLabel = "FILE", description = "Writes all figures as JSON.")
  private @Nullable Path json;

  @Option(names = "--strict", description = "Ends with code 1 if a target is missed.")
  private boolean strict;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public static void main(String[] arguments) {
    CommandLine line = new CommandLine(new Bench());
    line.setExecutionExceptionHandler(
        (e, command, result) -> {
          boolean isSaid = e instanceof BenchException || e instanceof IllegalArgumentException;
          System.err.println("bench: " + (isSaid ? e.getMessage() : e));
          for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
            System.err.println("bench: because of " + cause);
          }
          return e instanceof IllegalArgumentException ? USAGE : FAILED;
        });
    line.getCommandSpec().exitCodeOnInvalidInput(USAGE);
    System.exit(line.execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    if (suites.isEmpty()) {
      Suites.all().forEach(suite -> out.printf("%-17s  %s%n", suite.name(), suite.purpose()));
      return 0;
    }
    Settings settings = settings();
    List<Suite> chosen = suites.stream().map(Suites::named).toList();
    Map<String, String> machine = Machine.facts(settings);
    if (Machine.load() > 0.5) {
      System.err.println(
          "bench: this machine is busy (load " + machine.get("loadBefore") + "): provisional");
    }
    List<Section> sections = new ArrayList<>();
    for (Suite suite : chosen) {
      sections.addAll(suite.measure(settings, said -> System.err.println("bench: " + said)));
    }
    out.print(Table.of(sections));
    if (json != null) {
      Files.writeString(json, JsonReport.of(machine, sections));
    }
    return strict && missed(sections) ? MISSED : 0;
  }

  private Settings settings() {
    if (forks < 1 || seconds < 0 || warmUpSeconds < 0 || threads < 0) {
      throw new IllegalArgumentException("--forks, --seconds, --warm-up, --threads: too small");
    }
    if (takes < 1 || takes > MOST_TAKES) {
      throw new IllegalArgumentException("--takes: " + takes + " is not from 1 to " + MOST_TAKES);
    }
    if (virtualThreads && !VirtualThreads.exist()) {
      throw new IllegalArgumentException(
          "--virtual: virtual threads need Java 21 or later, this is "
              + Runtime.version().feature());
    }
    long sown = seed == null ? ThreadLocalRandom.current().nextInt(1_000_000) : seed;
    Path files = folder == null ? Path.of(System.getProperty("java.io.tmpdir")) : folder;
    return new Settings(
        forks,
        seconds,
        warmUpSeconds,
        threads,
        only,
        sides,
        jvmArguments,
        files,
        pawl,
        takes,
        sown,
        virtualThreads);
  }

  private static boolean missed(List<Section> sections) {
    return sections.stream()
        .anyMatch(
            section ->
                section.targets().stream()
                    .anyMatch(t -> t.verdict(section.sides()) == Target.Verdict.MISSED));
  }
}
