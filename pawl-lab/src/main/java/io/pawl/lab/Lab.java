package io.pawl.lab;

import io.pawl.lab.report.Page;
import io.pawl.lab.report.PageFile;
import io.pawl.lab.report.Result;
import io.pawl.lab.report.Story;
import io.pawl.lab.stage.Ground;
import io.pawl.lab.stage.Specimen;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code lab [ID…]}: shows how locks fail, and Pawl under the same schedules. */
@Command(
    name = "lab",
    mixinStandardHelpOptions = true,
    description =
        "Plays old algorithms and other libraries under the schedules that break them, on real"
            + " servers, and Pawl under the same schedules.",
    footer = {
      "",
      "Without an ID it plays all, prints one table and writes a page of HTML.",
      "Exit codes: 0 Pawl stood under each, 1 it did not, 64 usage, 70 failed."
    })
public final class Lab implements Callable<Integer> {

  private static final String LOG_LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";
  private static final Logger grpc = Logger.getLogger("io.grpc");
  private static final int FELL = 1;
  private static final int USAGE = 64;
  private static final int FAILED = 70;

  @Parameters(paramLabel = "ID", description = "Such as S4: prints its schedule step by step.")
  private List<String> ids = new ArrayList<>();

  @Option(names = "--list", description = "Lists the specimens and plays none.")
  private boolean list;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Where the page goes (default pawl-lab.html; with IDs, nowhere).")
  private @Nullable Path html;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public static void main(String[] arguments) {
    // Servers that die are the subject here; what clients log about them is not.
    if (System.getProperty(LOG_LEVEL) == null) {
      System.setProperty(LOG_LEVEL, "off");
      grpc.setLevel(Level.OFF);
    }
    CommandLine line = new CommandLine(new Lab());
    line.setExecutionExceptionHandler(
        (e, command, result) -> {
          boolean isUsage = e instanceof IllegalArgumentException;
          System.err.println("lab: " + (isUsage ? e.getMessage() : e));
          for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
            System.err.println("lab: because of " + cause);
          }
          return isUsage ? USAGE : FAILED;
        });
    line.getCommandSpec().exitCodeOnInvalidInput(USAGE);
    System.exit(line.execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    List<Specimen> chosen =
        ids.isEmpty() ? Specimens.all() : ids.stream().map(Specimens::named).toList();
    if (list) {
      chosen.forEach(it -> out.printf("%-4s %s%n", it.id(), it.title()));
      return 0;
    }
    Path page = html == null && ids.isEmpty() ? Path.of("pawl-lab.html") : html;
    if (page != null) {
      PageFile.check(page);
    }
    List<Result> results = played(chosen);
    if (ids.isEmpty()) {
      out.print(Story.table(results));
    } else {
      results.forEach(result -> out.println(Story.of(result)));
    }
    if (page != null) {
      Files.writeString(page, Page.of(results, machine()));
      System.err.println("lab: " + page.toAbsolutePath() + " has the pictures");
    }
    return results.stream().allMatch(Result::isAsPromised) ? 0 : FELL;
  }

  private static List<Result> played(List<Specimen> chosen) {
    try (Ground ground = new Ground()) {
      Play play = new Play(ground);
      List<Result> results = new ArrayList<>();
      for (Specimen specimen : chosen) {
        System.err.println("lab: " + specimen.id() + " " + specimen.title());
        results.add(play.of(specimen));
      }
      return results;
    }
  }

  private static String machine() {
    return "Java "
        + Runtime.version()
        + ", "
        + System.getProperty("os.name")
        + " "
        + System.getProperty("os.version")
        + ", "
        + Runtime.getRuntime().availableProcessors()
        + " processors. The servers ran on the same machine.";
  }
}
