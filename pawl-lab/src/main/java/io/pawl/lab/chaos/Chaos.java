package io.pawl.lab.chaos;

import io.pawl.lab.chaos.Ground.Store;
import io.pawl.lab.report.PageFile;
import io.pawl.servers.Guard;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code chaos}: locks and counters under faults, judged by witnesses that do not trust them. */
@Command(
    name = "chaos",
    mixinStandardHelpOptions = true,
    description =
        "Uses locks and counters from several JVMs while servers, network and JVMs fail, and"
            + " judges what all of them saw.",
    footer = {
      "",
      "Exit codes: 0 all promises were kept, 64 usage, 70 one was broken or a run failed."
    })
public final class Chaos implements Callable<Integer> {

  private static final int USAGE = 64;
  private static final int BROKEN = 70;
  private static final long USUAL_SECONDS = 60;
  private static final int TIMES_TO_FAIL = 2;

  /** Drivers complain of each fault at length. */
  static final List<String> QUIET =
      List.of(
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
          "-XX:+IgnoreUnrecognizedVMOptions",
          "--enable-native-access=ALL-UNNAMED");

  @Option(
      names = "--store",
      split = ",",
      paramLabel = "NAME",
      description =
          "sqlite, mysql, mariadb, postgres, postgres-disk (whose disk is full at times), redis,"
              + " valkey, gate, zookeeper, etcd, etcd-cluster, redis-cluster, sentinel, cluster"
              + " (of Redis, with replicas that take over), quorum, or all (default sqlite)."
              + " Servers are started for the run.")
  private List<String> stores = new ArrayList<>(List.of("sqlite"));

  @Option(
      names = "--library",
      paramLabel = "NAME",
      description =
          "pawl (default); redisson on redis and valkey; curator on zookeeper; spring-integration"
              + " on redis, valkey, postgres and mysql; shedlock on postgres and mysql.")
  private Library library = Library.PAWL;

  @Option(names = "--minutes", description = "How long faults are played on each store.")
  private @Nullable Long minutes;

  @Option(names = "--seconds", description = "As --minutes (default 60 s).")
  private @Nullable Long seconds;

  @Option(names = "--seed", description = "From which the faults follow (default by chance).")
  private @Nullable Long seed;

  @Option(names = "--lease", description = "Of the workers, in milliseconds (default 1000).")
  private long leaseMillis = 1_000;

  @Option(names = "--report", paramLabel = "FILE", description = "Where a page of all runs goes.")
  private @Nullable Path report;

  @Option(names = "--keep", paramLabel = "FOLDER", description = "Keeps what workers wrote down.")
  private @Nullable Path keep;

  @Option(
      names = "--schedule",
      paramLabel = "FILE",
      description = "Plays these faults instead, as --shrink wrote them.")
  private @Nullable Path schedule;

  @Option(
      names = "--shrink",
      paramLabel = "RUNS",
      description =
          "Looks for fewer faults that break a promise too, in so many tries, and writes them to"
              + " chaos-STORE-SEED.txt (default 0).")
  private int shrink;

  private int trials;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  public static void main(String[] arguments) {
    CommandLine line = new CommandLine(new Chaos()).setCaseInsensitiveEnumValuesAllowed(true);
    line.setExecutionExceptionHandler(
        (e, command, result) -> {
          e.printStackTrace();
          return BROKEN;
        });
    line.setParameterExceptionHandler(
        (e, words) -> {
          System.err.println("chaos: " + e.getMessage());
          return USAGE;
        });
    System.exit(line.execute(arguments));
  }

  @Override
  public Integer call() throws IOException {
    List<Store> some;
    try {
      some = some();
      if (report != null) {
        PageFile.check(report);
      }
    } catch (IllegalArgumentException e) {
      System.err.println("chaos: " + e.getMessage());
      return USAGE;
    }
    if (leaseMillis < 500 || leaseMillis > 30_000) {
      System.err.println("chaos: --lease " + leaseMillis + " is not between 500 and 30000");
      return USAGE;
    }
    if (keep != null && hasPages(keep)) {
      System.err.println("chaos: --keep " + keep + " is not empty; name another folder");
      return USAGE;
    }
    long from = seed == null ? new Random().nextInt(1_000_000) : seed;
    long millis =
        1_000 * (minutes != null ? 60 * minutes : seconds != null ? seconds : USUAL_SECONDS);
    List<Fault> faults = List.of();
    if (schedule != null) {
      try {
        faults = Schedule.parse(Files.readString(schedule));
      } catch (IllegalArgumentException e) {
        System.err.println("chaos: " + schedule + ": " + e.getMessage());
        return USAGE;
      }
    }
    List<Result> results = new ArrayList<>();
    boolean isBroken = false;
    for (Store store : some) {
      ChaosRun.Order order =
          new ChaosRun.Order(library, store, from, millis, leaseMillis, QUIET, faults);
      Trial trial = trial(order);
      isBroken |= trial.isBroken();
      if (trial.isBroken() && shrink > 0) {
        shrink(order, trial.faults());
      }
      if (trial.result() != null) {
        results.add(trial.result());
        if (report != null) {
          Files.writeString(report, Report.page(results));
        }
      }
    }
    if (isBroken) {
      System.err.println("chaos: a promise was broken or a run failed, --seed " + from);
    }
    return isBroken ? BROKEN : 0;
  }

  /**
   * What was played, and what came out of it.
   *
   * @param result null where the run failed
   */
  private record Trial(@Nullable Result result, List<Fault> faults) {
    boolean isBroken() {
      return result == null || result.isBroken();
    }
  }

  /** Whose pages would be judged along. */
  private static boolean hasPages(Path folder) throws IOException {
    if (Files.notExists(folder)) {
      return false;
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files.findAny().isPresent();
    }
  }

  private Trial trial(ChaosRun.Order order) throws IOException {
    String word = order.store().word();
    trials++;
    Path folder =
        keep == null
            ? Files.createTempDirectory("pawl-chaos-")
            : Files.createDirectories(keep.resolve(trials == 1 ? word : word + "-" + trials));
    Guard guard = keep == null ? Guard.over(folder) : null;
    List<Fault> faults = new ArrayList<>();
    try {
      System.err.println("chaos: " + word + ", --seed " + order.seed());
      Result result =
          ChaosRun.run(
              order,
              folder,
              (fault, victim) -> {
                faults.add(fault);
                System.err.println(
                    "chaos: "
                        + fault.kind().title()
                        + ", "
                        + victim
                        + ", "
                        + fault.millis()
                        + " ms");
              });
      out.println(Report.of(result));
      return new Trial(result, faults);
    } catch (RuntimeException e) {
      System.err.println("chaos: " + word + ", --seed " + order.seed() + " failed");
      e.printStackTrace();
      return new Trial(null, faults);
    } finally {
      if (guard != null) {
        delete(folder);
        guard.dismiss();
      }
    }
  }

  /**
   * Threads and servers are fast at times of their own, so that a failure may need a second run.
   */
  private void shrink(ChaosRun.Order order, List<Fault> failing) throws IOException {
    List<Fault> least =
        Schedule.shrink(
            failing,
            shrink,
            some -> {
              try {
                boolean isBroken = false;
                for (int times = 0; times < TIMES_TO_FAIL && !isBroken; times++) {
                  isBroken = trial(order.with(some)).isBroken();
                }
                return isBroken;
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    Path file = Path.of("chaos-" + order.store().word() + "-" + order.seed() + ".txt");
    Files.writeString(file, Schedule.text(least));
    System.err.println(
        "chaos: "
            + least.size()
            + " of "
            + failing.size()
            + " faults are enough, --seed "
            + order.seed()
            + " --schedule "
            + file);
  }

  private List<Store> some() {
    if (stores.equals(List.of("all"))) {
      return Arrays.stream(Store.values()).filter(library::runsOn).toList();
    }
    return stores.stream().map(this::store).toList();
  }

  private Store store(String word) {
    Store store;
    try {
      store = Store.of(word);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "--store "
              + word
              + " is none of "
              + Arrays.stream(Store.values()).map(Store::word).toList(),
          e);
    }
    if (!library.runsOn(store)) {
      throw new IllegalArgumentException("--library " + library.word() + " has no " + word);
    }
    return store;
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
