package io.pawl.bench.start;

import io.pawl.bench.BenchException;
import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.contest.Folders;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.report.Target;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Whole processes, from exec to exit: {@code pawl run} around a command that does nothing. */
public final class StartupSuite implements Suite {

  private static final String PAWL = "pawl run x -- true";
  private static final String EMPTY = "empty Java main class";
  private static final String NOTHING = "true";
  private static final int RUNS_PER_FORK = 10;
  private static final int WARM_UP_RUNS = 2;

  @Override
  public String name() {
    return "startup";
  }

  @Override
  public String purpose() {
    return "wall time of ./pawl run, beside an empty Java main class";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    Path folder = Folders.create(settings.folder(), name());
    try {
      return List.of(measure(settings, progress, folder));
    } finally {
      Folders.delete(folder);
    }
  }

  private static Section measure(Settings settings, Consumer<String> progress, Path folder) {
    Map<String, List<String>> commands = new LinkedHashMap<>();
    List<String> notes = new ArrayList<>();
    File pawl = new File(settings.pawl());
    if (pawl.canExecute()) {
      String store = "sqlite:" + folder.resolve("locks.db");
      commands.put(
          PAWL, List.of(pawl.getAbsolutePath(), "run", "--store", store, "x", "--", "true"));
    } else {
      notes.add(PAWL + " is left out: " + settings.pawl() + " is not a program (see --pawl)");
    }
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    commands.put(EMPTY, List.of(java, "-cp", ownClasses(), Empty.class.getName()));
    commands.put(NOTHING, List.of("true"));

    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    commands.keySet().forEach(name -> samples.put(name, new ArrayList<>()));
    int runs = settings.forks() * RUNS_PER_FORK;
    for (int run = -WARM_UP_RUNS; run < runs; run++) {
      for (Map.Entry<String, List<String>> command : commands.entrySet()) {
        double millis = wallMillis(command.getValue());
        if (run >= 0) {
          samples
              .computeIfAbsent(command.getKey(), name -> new ArrayList<>())
              .add(new Sample(Map.of(Metric.WALL_MILLIS, millis)));
        }
      }
    }
    progress.accept("startup: " + runs + " runs each");
    List<Side> sides = new ArrayList<>();
    samples.forEach((name, forks) -> sides.add(new Side(name, forks)));
    return new Section(
        "startup",
        "one command, " + runs + " runs",
        sides,
        List.of(Target.timesAtMost(3, PAWL, Metric.WALL_MILLIS, EMPTY)),
        notes);
  }

  /** Where {@link Empty} is, and nothing else: a long class path would slow the rival down. */
  private static String ownClasses() {
    URL place = Empty.class.getProtectionDomain().getCodeSource().getLocation();
    return Path.of(URI.create(place.toString())).toString();
  }

  private static double wallMillis(List<String> command) {
    try {
      long from = System.nanoTime();
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      int status = process.waitFor();
      double millis = (System.nanoTime() - from) / 1e6;
      if (status != 0) {
        throw new BenchException(String.join(" ", command) + " ended with " + status);
      }
      return millis;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }
}
