package io.pawl.bench.start;

import io.pawl.bench.BenchException;
import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.contest.Folders;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.fault.Child;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What Pawl and ShedLock add to the start of a Spring Boot application, in fresh JVMs. */
public final class SpringStartSuite implements Suite {

  private static final List<String> NAMES =
      List.of(
          SpringStartFork.WITHOUT,
          SpringStartFork.ON_DATABASE,
          SpringStartFork.ON_FILE,
          SpringStartFork.SHEDLOCK);
  private static final int RUNS_PER_FORK = 5;
  private static final long PATIENCE_MILLIS = 60_000;

  @Override
  public String name() {
    return "spring-start";
  }

  @Override
  public String purpose() {
    return "the start of a Spring Boot application on PostgreSQL, with Pawl, with ShedLock, and without";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    Path folder = Folders.create(settings.folder(), name());
    try (PostgresServer database = PostgresServer.start()) {
      String url = database.plainUrl(database.port());
      try (Connection connection = DriverManager.getConnection(url);
          Statement statement = connection.createStatement()) {
        statement.execute(SpringStartFork.SHEDLOCK_TABLE);
      } catch (SQLException e) {
        throw new BenchException("cannot make the table of ShedLock", e);
      }
      return List.of(measure(settings, progress, url, folder));
    } finally {
      Folders.delete(folder);
    }
  }

  private static Section measure(
      Settings settings, Consumer<String> progress, String database, Path folder) {
    List<Side> sides = new ArrayList<>();
    NAMES.forEach(name -> sides.add(new Side(name, new ArrayList<>())));
    int runs = settings.forks() * RUNS_PER_FORK;
    for (int run = -1; run < runs; run++) { // the first fills the page cache
      for (Side side : sides) {
        Sample start = start(side.name(), settings, database, folder);
        if (run >= 0) {
          side.forks().add(start);
        }
      }
    }
    progress.accept("spring-start: " + runs + " JVMs each");
    return new Section(
        "spring-start",
        "from SpringApplication.run to the ready context, and the first locked call; "
            + runs
            + " JVMs each",
        sides,
        List.of(),
        List.of());
  }

  private static Sample start(String side, Settings settings, String database, Path folder) {
    try (Child child =
        new Child(
            side,
            settings.jvmArguments(),
            Child.ownClassPath(),
            SpringStartFork.class,
            List.of(side, database, folder.resolve("locks.db").toString()))) {
      double[] figures = child.hear("started", PATIENCE_MILLIS);
      child.awaitEnd(PATIENCE_MILLIS);
      return new Sample(
          Map.of(
              Metric.WALL_MILLIS, figures[0],
              Metric.CPU_SECONDS, figures[1],
              Metric.FIRST_LEASE, figures[2]));
    }
  }
}
