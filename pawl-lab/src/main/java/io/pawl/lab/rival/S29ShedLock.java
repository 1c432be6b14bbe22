package io.pawl.lab.rival;

import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A job that takes longer than lockAtMostFor runs twice, and is not told. */
public final class S29ShedLock implements Specimen {

  private static final Duration AT_MOST = Duration.ofSeconds(1);

  @Override
  public String id() {
    return "S29";
  }

  @Override
  public String title() {
    return Versions.of("ShedLock", LockProvider.class)
        + ": a job that takes longer than lockAtMostFor";
  }

  @Override
  public String origin() {
    return "By design; its manual says so.";
  }

  @Override
  public Service service() {
    return Service.MYSQL;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Connection server = stage.mysql();
    try (Statement create = server.createStatement()) {
      create.execute(
          "CREATE TABLE IF NOT EXISTS shedlock (name VARCHAR(64) PRIMARY KEY,"
              + " lock_until TIMESTAMP(3) NOT NULL, locked_at TIMESTAMP(3) NOT NULL,"
              + " locked_by VARCHAR(255) NOT NULL)");
    }
    Optional<SimpleLock> a = provider(stage).lock(configuration(stage));
    a.ifPresent(it -> trace.holds("A", "lock, at most for 1 s"));
    stage.await("lockAtMostFor passes", () -> isOver(server, stage.name()));
    trace.fault("A", "still works; nobody renews, and nobody tells it");
    Optional<SimpleLock> b = provider(stage).lock(configuration(stage));
    b.ifPresent(it -> trace.holds("B", "lock → granted: the job runs twice"));
    trace.writes("A", "writes");
    return Finding.twoHolders(trace, "the job runs twice at once; its first run is not told");
  }

  private static LockProvider provider(Stage stage) {
    JdbcTemplate template =
        new JdbcTemplate(new DriverManagerDataSource(stage.ground().mysqlUrl()));
    return new JdbcTemplateLockProvider(
        JdbcTemplateLockProvider.Configuration.builder()
            .withJdbcTemplate(template)
            .usingDbTime()
            .build());
  }

  private static LockConfiguration configuration(Stage stage) {
    return new LockConfiguration(Instant.now(), stage.name(), AT_MOST, Duration.ZERO);
  }

  private static boolean isOver(Connection server, String name) throws Exception {
    try (Statement statement = server.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT lock_until <= utc_timestamp(3) FROM shedlock WHERE name = '"
                    + name
                    + "'")) {
      return rows.next() && rows.getBoolean(1);
    }
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    return PawlSteps.outlivesItsLease(stage, service());
  }
}
