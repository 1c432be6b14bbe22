package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreConfigurationException;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.sql.dialect.SqliteDialect;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What happens to files that are not what they should be: a clear error, and no change. */
class SqliteFileTest {

  @TempDir Path folder;

  @Test
  void aFileThatIsNotADatabaseIsRefusedAndLeftAlone() throws IOException {
    Path notes = Files.writeString(folder.resolve("notes.txt"), "do not lose this line of text");
    assertThatThrownBy(() -> open(notes))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("notes.txt")
        .hasMessageContaining("not a SQLite database");
    assertThat(notes).hasContent("do not lose this line of text");
  }

  @Test
  void aDatabaseOfAnotherApplicationIsRefusedAndLeftAlone() throws Exception {
    Path foreign = folder.resolve("foreign.db");
    execute(foreign, "CREATE TABLE customer (id INTEGER)");
    byte[] before = Files.readAllBytes(foreign);
    assertThatThrownBy(() -> open(foreign))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("another application");
    assertThat(foreign).hasBinaryContent(before);
    assertThat(folder).isDirectoryNotContaining("glob:**-wal");
  }

  @Test
  void aFileOfANewerPawlIsRefused() throws Exception {
    Path file = folder.resolve("locks.db");
    open(file).close();
    execute(file, "INSERT INTO pawl_schema (version, usable_by) VALUES (99, 99)");
    assertThatThrownBy(() -> open(file))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("upgrade")
        .hasMessageContaining("99");
  }

  @Test
  void aFileFromBeforeTheFirstReleaseIsRefused() throws Exception {
    Path file = folder.resolve("locks.db");
    open(file).close();
    execute(file, "PRAGMA user_version = 2");
    assertThatThrownBy(() -> open(file))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("never released");
  }

  @Test
  void aTruncatedDatabaseIsRefused() throws Exception {
    Path file = folder.resolve("locks.db");
    try (Pawl pawl = open(file)) {
      pawl.lock("x").acquire().close();
    }
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, java.util.Arrays.copyOf(whole, 2_000));
    assertThatThrownBy(
            () -> {
              try (Pawl pawl = open(file)) {
                pawl.lock("x").acquire();
              }
            })
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("locks.db");
  }

  /** What a loss of power takes back was never acknowledged, as far as the disk honours fsync. */
  @Test
  void everyCommitIsForcedToTheDisk() throws Exception {
    Path file = folder.resolve("locks.db");
    open(file).close();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA synchronous = OFF");

      new SqliteDialect(file).setUpWriter(connection);

      try (ResultSet rows = statement.executeQuery("PRAGMA synchronous")) {
        assertThat(rows.next()).isTrue();
        assertThat(rows.getInt(1)).as("FULL").isEqualTo(2);
      }
    }
  }

  @Test
  void fileSystemsThatAreKnownToBeOfANetworkAreRefused() {
    for (String type : List.of("nfs", "nfs4", "CIFS", "smb3", "9p", "fuse.sshfs")) {
      assertThat(SqliteProvider.isOfANetwork(type)).as(type).isTrue();
    }
    for (String type : List.of("ext4", "xfs", "tmpfs", "overlay", "NTFS", "apfs")) {
      assertThat(SqliteProvider.isOfANetwork(type)).as(type).isFalse();
    }
  }

  @Test
  void aFolderIsRefused() {
    assertThatThrownBy(() -> open(folder))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("name a file");
  }

  @Test
  void aMissingFolderIsNamedAndNotCreated() {
    Path missing = folder.resolve("missing");
    assertThatThrownBy(() -> open(missing.resolve("locks.db")))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining(missing.toString())
        .hasMessageContaining("does not exist");
    assertThat(missing).doesNotExist();
  }

  /** SQLite opens what a link leads to, and keeps its log there. */
  @Test
  void itIsLookedAtTheFolderToWhichALinkLeads() throws IOException {
    Path missing = folder.resolve("missing");
    Path link = Files.createSymbolicLink(folder.resolve("link.db"), Path.of("missing/locks.db"));
    Path next = Files.createSymbolicLink(folder.resolve("next.db"), link);
    assertThatThrownBy(() -> open(next))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining(missing.toString())
        .hasMessageContaining("does not exist");
  }

  /** It would have a log of its own there, and two holders. */
  @Test
  void p1_aFileWithAnotherNameIsRefusedByEither() throws Exception {
    Path file = folder.resolve("locks.db");
    open(file).close();
    Path other = Files.createDirectory(folder.resolve("elsewhere")).resolve("locks.db");
    Files.createLink(other, file);
    for (Path name : List.of(file, other)) {
      assertThatThrownBy(() -> open(name))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining(name.toString())
          .hasMessageContaining("hard link");
    }
    Files.delete(other);
    open(file).close();
  }

  /** As a container has it that is given the file and not its directory. */
  @Test
  void p1_aFileThatIsMountedByItselfIsToldFromOneInAMountedDirectory() {
    byte[] mounts =
        """
        21 1 254:0 / / rw,relatime - ext4 /dev/root rw
        40 21 254:0 /srv/data /data rw,relatime - ext4 /dev/root rw
        41 40 254:0 /srv/locks.db /data/my\\040locks.db rw,relatime - ext4 /dev/root rw
        """
            .getBytes(StandardCharsets.UTF_8);
    assertThat(SqliteProvider.isMounted(Path.of("/data/my locks.db"), mounts)).isTrue();
    assertThat(SqliteProvider.isMounted(Path.of("/data/locks.db"), mounts)).isFalse();
    assertThat(SqliteProvider.isMounted(Path.of("/srv/locks.db"), mounts)).isFalse();
  }

  @Test
  void parametersAndInMemoryNamesAreRefused() {
    for (String url :
        new String[] {"sqlite:", "sqlite::memory:", "sqlite:/tmp/x.db?cache=shared"}) {
      assertThatThrownBy(() -> Pawl.connect(url))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("sqlite:/path/to/file");
    }
  }

  @Test
  void anEmptyFileBecomesAStore() throws Exception {
    Path file = Files.createFile(folder.resolve("empty.db"));
    try (Pawl pawl = open(file);
        Lease lease = pawl.lock("x").acquire()) {
      assertThat(lease.token()).isEqualTo(1);
    }
  }

  @Test
  void theRowOfALockIsReadableByAPerson() throws Exception {
    Path file = folder.resolve("locks.db");
    try (Pawl pawl = open(file);
        Lease lease = pawl.lock("orders:42").acquire()) {
      String holders = ask(file, "SELECT holders FROM pawl_lock WHERE name = 'orders:42'");
      assertThat(holders)
          .contains("\"token\":" + lease.token())
          .contains("\"mode\":\"exclusive\"")
          .containsPattern("\"until\":\"20\\d\\d-\\d\\d-\\d\\dT")
          .contains("\"pid\":" + ProcessHandle.current().pid());
    }
    assertThat(ask(file, "SELECT holders FROM pawl_lock")).isEqualTo("[]");
  }

  @Test
  void aRowThatWasEditedByHandIsNamedAndOtherLocksGoOn() throws Exception {
    Path file = folder.resolve("locks.db");
    try (Pawl pawl = open(file)) {
      pawl.lock("broken").acquire().close();
      execute(file, "UPDATE pawl_lock SET holders = 'me' WHERE name = 'broken'");
      assertThatThrownBy(() -> pawl.lock("broken").tryAcquire())
          .hasMessageContaining("'broken'")
          .hasMessageContaining("pawl_lock");
      try (Lease lease = pawl.lock("sound").acquire()) {
        assertThat(lease.isValid()).isTrue();
      }
    }
  }

  /**
   * As of a restore of some tables alone. Without this one whoever waits fails, and nobody else.
   */
  @Test
  void theDoctorNamesATableThatIsMissing() throws Exception {
    Path file = folder.resolve("locks.db");
    open(file).close();
    execute(file, "DROP TABLE pawl_waiter");
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse("sqlite:" + file))) {
      assertThat(store.diagnose())
          .filteredOn(finding -> finding.level() == Level.PROBLEM)
          .singleElement()
          .satisfies(finding -> assertThat(finding.what()).contains("pawl_waiter"));
    }
  }

  private static Pawl open(Path file) {
    return Pawl.connect("sqlite:" + file);
  }

  static void execute(Path file, String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  static String ask(Path file, String query) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file);
        Statement statement = connection.createStatement()) {
      return statement.executeQuery(query).getString(1);
    }
  }
}
