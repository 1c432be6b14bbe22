package io.pawl.sql.dialect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a process of Linux makes of the files that tell it of its clock. */
class HostClockTest {

  @TempDir Path proc;

  private Path bootId() {
    return proc.resolve("sys/kernel/random/boot_id");
  }

  @BeforeEach
  void createFolders() throws IOException {
    Files.createDirectories(bootId().getParent());
    Files.createDirectories(proc.resolve("self"));
  }

  private HostClock clock(String offsets) throws IOException {
    Files.writeString(bootId(), "40726168-e501\n");
    Files.writeString(proc.resolve("self/timens_offsets"), offsets);
    return HostClock.ofLinux(proc);
  }

  /** Compared in hours, so that no pause counts. */
  private static void assertAheadOf(HostClock clock, long hours) {
    long millis = System.nanoTime() / 1_000_000 - clock.millis();
    assertThat(Math.round(millis / 3_600_000.0)).isEqualTo(hours);
  }

  @Test
  void whatATimeNamespaceAddsToTheMonotonicClockIsTakenOff() throws IOException {
    assertAheadOf(clock("monotonic           0         0\nboottime         7200         0\n"), 0);
    assertAheadOf(clock("monotonic        7200         0\nboottime            0         0\n"), 2);
    assertAheadOf(clock("boottime 0 0\nmonotonic   -10801 999999999\n"), -3);
  }

  @Test
  void aKernelWithoutTimeNamespacesAddsNothing() throws IOException {
    Files.writeString(bootId(), "40726168-e501\n");
    HostClock clock = HostClock.ofLinux(proc);
    assertAheadOf(clock, 0);
    assertThat(clock.boot()).isEqualTo("40726168-e501");
    assertThat(clock.isMonotonic()).isTrue();
  }

  @Test
  void aProcessBetweenTwoTimeNamespacesIsRefused() throws IOException {
    Path namespaces = Files.createDirectory(proc.resolve("self/ns"));
    Files.createSymbolicLink(namespaces.resolve("time"), Path.of("time:[1]"));
    Path children = namespaces.resolve("time_for_children");
    Files.createSymbolicLink(children, Path.of("time:[2]"));
    assertThatThrownBy(() -> clock("monotonic 7200 0\n"))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("unshare --fork");

    Files.delete(children);
    Files.createSymbolicLink(children, Path.of("time:[1]"));
    assertAheadOf(clock("monotonic 7200 0\n"), 2);
  }

  @Test
  void withoutTheBootIdThereIsNoClock() {
    assertThatThrownBy(() -> HostClock.ofLinux(proc))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining(bootId().toString())
        .hasMessageContaining("let this process read /proc");
  }

  @Test
  void noKindOfClockDeletesWhatTheOtherAgreedOn() throws SQLException {
    HostClock before = new HostClock("boot 1", () -> 1, () -> 10);
    HostClock after = new HostClock("boot 2", () -> 1, () -> 20);
    HostClock wall = new HostClock(HostClock.NO_BOOT, () -> 5, () -> 5);
    for (HostClock each : List.of(before, wall, after, wall, after)) {
      prepare(each);
    }
    try (Connection reader = DriverManager.getConnection("jdbc:sqlite:" + file());
        ResultSet rows =
            reader.createStatement().executeQuery("SELECT boot FROM pawl_clock ORDER BY boot")) {
      assertThat(rows.next()).isTrue();
      assertThat(rows.getString(1)).isEqualTo("boot 2");
      assertThat(rows.next()).isTrue();
      assertThat(rows.getString(1)).isEqualTo(HostClock.NO_BOOT);
      assertThat(rows.next()).isFalse();
    }
  }

  private Path file() {
    return proc.resolve("locks.db");
  }

  private void prepare(HostClock clock) throws SQLException {
    SqliteDialect dialect = new SqliteDialect(file(), clock);
    try (Connection writer = dialect.open()) {
      dialect.setUpWriter(writer);
      dialect.prepare(writer);
    }
  }
}
