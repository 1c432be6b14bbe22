package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import io.pawl.sql.dialect.Frame;
import io.pawl.sql.dialect.HostClock;
import io.pawl.sql.dialect.SqliteDialect;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SQLite's own faults: somebody else writes, the disk is full, the clock starts anew. */
class SqliteFaultsTest {

  @TempDir Path folder;

  @Test
  void aWriterThatTakesItsTimeIsWaitedForAndNeverSurfaces() throws Exception {
    Path file = folder.resolve("locks.db");
    try (Pawl pawl = Pawl.connect("sqlite:" + file);
        Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = other.createStatement()) {
      statement.execute("BEGIN IMMEDIATE");
      CompletableFuture<Optional<Lease>> lease =
          pawl.lock("x").tryAcquireAsync(Duration.ofSeconds(30));
      assertThat(lease).isNotDone();
      statement.execute("COMMIT");
      assertThat(lease.get(20, SECONDS)).isPresent();
    }
  }

  @Test
  void aWriterThatNeverEndsIsAStoreExceptionAndNotBusy() throws Exception {
    Path file = folder.resolve("locks.db");
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ZERO);
    try (Pawl pawl = Pawl.connect("sqlite:" + file, impatient);
        Connection other = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = other.createStatement()) {
      statement.execute("BEGIN IMMEDIATE");
      assertThatThrownBy(() -> pawl.lock("x").tryAcquire())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining(file.toString());
      statement.execute("COMMIT");
      // waits, since the attempt that was given up may get in first, until it is withdrawn
      assertThat(pawl.lock("x").tryAcquire(Duration.ofSeconds(20))).isPresent();
    }
  }

  @Test
  void aFullDiskIsAClearErrorAndNothingIsLost() throws Exception {
    Path file = folder.resolve("locks.db");
    try (Pawl pawl = Pawl.connect("sqlite:" + file)) {
      assertThat(pawl.lock("before").acquire().token()).isEqualTo(1);
    }
    try (LockStore store = SqlStore.open(new FullDisk(file).database());
        Pawl pawl = Pawl.over(store)) {
      assertThatThrownBy(() -> fill(pawl))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("full");
    }
    try (Pawl pawl = Pawl.connect("sqlite:" + file)) {
      assertThat(pawl.lock("before").acquire().token()).isEqualTo(2);
    }
  }

  private static void fill(Pawl pawl) throws InterruptedException {
    for (int i = 0; i < 10_000; i++) {
      pawl.lock("x".repeat(400) + i).acquire().close();
    }
  }

  /** A database whose file may grow by a few pages only. */
  private static final class FullDisk extends SqliteDialect {

    FullDisk(Path file) {
      super(file);
    }

    @Override
    public Frame setUpWriter(Connection connection) throws SQLException {
      Frame frame = super.setUpWriter(connection);
      try (Statement statement = connection.createStatement()) {
        statement.execute("PRAGMA max_page_count = 16");
      }
      return frame;
    }
  }

  @Test
  void settingTheWallClockChangesNothing() throws Exception {
    Path file = folder.resolve("locks.db");
    LongSupplier monotonic = () -> System.nanoTime() / 1_000_000;
    long anHour = Duration.ofHours(1).toMillis();
    HostClock right = new HostClock("boot", monotonic, System::currentTimeMillis);
    HostClock ahead = new HostClock("boot", monotonic, () -> System.currentTimeMillis() + anHour);
    HostClock behind = new HostClock("boot", monotonic, () -> System.currentTimeMillis() - anHour);
    try (LockStore first = SqlStore.open(new SqliteDialect(file, right).database());
        LockStore second = SqlStore.open(new SqliteDialect(file, ahead).database());
        LockStore third = SqlStore.open(new SqliteDialect(file, behind).database());
        Pawl holder = Pawl.over(first);
        Pawl early = Pawl.over(second);
        Pawl late = Pawl.over(third);
        Lease lease = holder.lock("x").acquire()) {
      assertThat(early.lock("x").tryAcquire()).isEmpty();
      assertThat(late.lock("x").tryAcquire()).isEmpty();
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void aRebootWithAWrongClockHoldsNobodyUpForLongerThanALease() throws Exception {
    Path file = folder.resolve("locks.db");
    LongSupplier monotonic = () -> System.nanoTime() / 1_000_000;
    LongSupplier yesterday = () -> System.currentTimeMillis() - Duration.ofDays(1).toMillis();
    HostClock before = new HostClock("boot 1", monotonic, System::currentTimeMillis);
    HostClock after = new HostClock("boot 2", monotonic, yesterday);
    LockOptions twoSeconds = LockOptions.defaults().lease(Duration.ofSeconds(2)).renewal(false);
    try (LockStore old = SqlStore.open(new SqliteDialect(file, before).database());
        Pawl dead = Pawl.over(old)) {
      dead.lock("x", twoSeconds).acquire();
      try (LockStore store = SqlStore.open(new SqliteDialect(file, after).database());
          Pawl pawl = Pawl.over(store)) {
        assertThat(pawl.lock("x").tryAcquire()).isEmpty();
        assertThat(pawl.lock("x").tryAcquire(Duration.ofSeconds(60))).isPresent();
      }
    }
  }
}
