package io.pawl.bench.suite;

import io.pawl.bench.BenchException;
import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.contest.Folders;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.bench.rival.LettucePair;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.RedissonLocks;
import io.pawl.servers.RedisServer;
import io.pawl.servers.fault.Child;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What it takes to the first lease: time, and jars. */
final class RedisConnectSuite implements Suite {

  private static final String PAWL = PawlRival.PASSING;
  private static final String REDISSON = RedissonLocks.Kind.PLAIN.title;
  private static final List<String> NAMES = List.of(PAWL, REDISSON, LettucePair.NAME);
  private static final List<String> NOT_NEEDED =
      List.of(
          "pawl-sql",
          "pawl-etcd",
          "zookeeper",
          "sqlite-jdbc",
          "netty-transport-classes-epoll",
          "netty-tcnative-classes",
          "curator-",
          "jetcd-",
          "grpc-",
          "vertx-",
          "guava",
          "HdrHistogram");
  private static final long PATIENCE_MILLIS = 60_000;
  private static final Pattern SOURCE = Pattern.compile(" source: (file:\\S+)");

  @Override
  public String name() {
    return "redis-connect";
  }

  @Override
  public String purpose() {
    return "from main to the first lease on a Redis server, and the jars it takes";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    Path folder = Folders.create(settings.folder(), name());
    try (RedisServer server = RedisServer.start()) {
      return List.of(measure(settings, progress, folder, server));
    } finally {
      Folders.delete(folder);
    }
  }

  private static Section measure(
      Settings settings, Consumer<String> progress, Path folder, RedisServer server) {
    List<Side> sides = new ArrayList<>();
    List<Map<Metric, Double>> needs = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    for (String name : NAMES) {
      Set<Path> places = loadedFrom(name, settings, folder.resolve("classes.log"), server);
      needs.add(Map.of(Metric.JARS, (double) places.size(), Metric.MEGABYTES, megabytes(places)));
      sides.add(new Side(name, new ArrayList<>()));
      notes.add(
          name + ": " + String.join(" ", places.stream().map(RedisConnectSuite::file).toList()));
    }
    notes.add(
        0,
        "jars: those that classes were loaded from until the first lease and its release, without"
            + " the bench's own; dependencies not loaded by then are not counted");
    notes.add(1, "every JVM has all sides' jars on its class path; slf4j-simple is the bench's");
    for (int fork = 0; fork < settings.forks(); fork++) {
      for (int side = 0; side < sides.size(); side++) {
        String name = NAMES.get(side);
        double millis = firstLeaseMillis(name, settings.jvmArguments(), server);
        Map<Metric, Double> figures = new EnumMap<>(needs.get(side));
        figures.put(Metric.FIRST_LEASE, millis);
        sides.get(side).forks().add(new Sample(figures));
      }
    }
    progress.accept("redis-connect: " + settings.forks() + " JVMs each");
    return new Section(
        "redis-connect",
        "from main to the first lease, " + settings.forks() + " JVMs each",
        sides,
        List.of(),
        notes);
  }

  private static double firstLeaseMillis(
      String side, List<String> jvmArguments, RedisServer server) {
    server.call("FLUSHALL");
    try (Child child =
        new Child(
            side, jvmArguments, classPath(), ConnectFork.class, List.of(side, server.url()))) {
      double millis = child.hear("leased", PATIENCE_MILLIS)[0];
      child.awaitEnd(PATIENCE_MILLIS);
      return millis;
    }
  }

  /** Ours without what a user of Redis alone would not have, and Lettuce would load if it could. */
  private static List<String> classPath() {
    return Child.ownClassPath().stream()
        .filter(entry -> NOT_NEEDED.stream().noneMatch(entry::contains))
        .toList();
  }

  /** Jars, or folders of classes, found in a run of its own in which the JVM logs every class. */
  private static Set<Path> loadedFrom(
      String side, Settings settings, Path log, RedisServer server) {
    List<String> jvmArguments = new ArrayList<>(settings.jvmArguments());
    jvmArguments.add("-Xlog:class+load=info:file=" + log + "::filecount=0");
    firstLeaseMillis(side, jvmArguments, server);
    Set<Path> places = new TreeSet<>();
    try (Stream<String> lines = Files.lines(log)) {
      lines.forEach(
          line -> {
            Matcher source = SOURCE.matcher(line);
            if (source.find()) {
              places.add(Path.of(URI.create(source.group(1))));
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    places.remove(ownPlace());
    if (places.isEmpty()) {
      throw new BenchException(side + " has loaded no class from a jar, as " + log + " has it");
    }
    return places;
  }

  private static Path ownPlace() {
    URL place = ConnectFork.class.getProtectionDomain().getCodeSource().getLocation();
    return Path.of(URI.create(place.toString()));
  }

  private static String file(Path place) {
    return String.valueOf(place.getFileName());
  }

  private static double megabytes(Set<Path> places) {
    long bytes = 0;
    for (Path place : places) {
      try (Stream<Path> files = Files.walk(place)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          bytes += Files.size(file);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return bytes / 1e6;
  }
}
