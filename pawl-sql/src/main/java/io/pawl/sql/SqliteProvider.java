package io.pawl.sql;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.spi.LockStore;
import io.pawl.spi.SchemaSource;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import io.pawl.sql.dialect.SqliteDialect;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/**
 * Opens {@code sqlite:/path/to/file}. The file is created if it does not exist; its directory must
 * exist.
 */
public final class SqliteProvider implements StoreProvider, SchemaSource {

  /** SQLite's locks and shared memory do not work across machines. */
  private static final Set<String> NETWORK_FILE_SYSTEMS =
      Set.of(
          "nfs",
          "nfs4",
          "cifs",
          "smb",
          "smb2",
          "smb3",
          "smbfs",
          "afs",
          "ncpfs",
          "9p",
          "v9fs",
          "ceph",
          "fuse.ceph",
          "glusterfs",
          "fuse.glusterfs",
          "fuse.sshfs",
          "fuse.s3fs",
          "lustre",
          "gpfs",
          "beegfs",
          "ocfs2",
          "gfs2",
          "virtiofs",
          "vboxsf",
          "drvfs",
          "webdav",
          "davfs",
          "fuse.davfs2");

  private static final Path MOUNTS = Path.of("/proc/self/mountinfo");

  /** Which word of a line of {@link #MOUNTS}. */
  private static final int MOUNT_POINT = 4;

  @Override
  public Set<String> schemes() {
    return Set.of("sqlite", "jdbc:sqlite");
  }

  @Override
  public String embeddedUrl() {
    Path directory = stateDirectory();
    if (!directory.isAbsolute()) {
      throw new StoreConfigurationException(
          "this account has no home directory for the default store; set XDG_STATE_HOME or HOME to"
              + " one, or name a store");
    }
    return "sqlite:" + embedded(directory);
  }

  private static Path embedded(Path stateDirectory) {
    return stateDirectory.resolve("pawl").resolve("locks.db");
  }

  private static Path stateDirectory() {
    String os = System.getProperty("os.name", "");
    Path home = home();
    String windows = System.getenv("LOCALAPPDATA");
    String xdg = System.getenv("XDG_STATE_HOME");
    if (xdg != null && Path.of(xdg).isAbsolute()) {
      return Path.of(xdg);
    }
    if (os.startsWith("Windows") && windows != null) {
      return Path.of(windows);
    }
    if (os.startsWith("Mac")) {
      return home.resolve("Library").resolve("Application Support");
    }
    return home.resolve(".local").resolve("state");
  }

  /**
   * As every Java since 19 says it: earlier ones know no home of an account without one in passwd.
   */
  private static Path home() {
    Path known = Path.of(System.getProperty("user.home", "."));
    boolean isHome = known.isAbsolute() && known.getNameCount() > 0;
    String variable = System.getenv("HOME");
    return isHome || variable == null ? known : Path.of(variable);
  }

  @Override
  public LockStore open(StoreUrl url) {
    Path file = path(url);
    try {
      if (url.secret().equals("sqlite:" + embedded(stateDirectory()))) {
        Files.createDirectories(file.getParent());
      }
      checkFile(url, file);
    } catch (IOException e) {
      throw new StoreDeniedException("store '" + url + "': cannot be examined: " + e, e);
    }
    return SqlStore.open(new SqliteDialect(file).database());
  }

  @Override
  public String schema(StoreUrl url) {
    return SqlSchema.ddl(url);
  }

  @Override
  public void createSchema(StoreUrl url) {
    SqlSchema.apply(url);
  }

  private static Path path(StoreUrl url) {
    String rest = url.rest().startsWith("//") ? url.rest().substring(2) : url.rest();
    if (rest.isEmpty() || rest.startsWith(":") || rest.contains("?") || rest.contains("#")) {
      throw url.wrong("write sqlite:/path/to/file, without parameters");
    }
    try {
      return Path.of(rest).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("store URL '" + url + "': " + e.getMessage(), e);
    }
  }

  /** Whether the operating system's name of a file system is that of one across machines. */
  static boolean isOfANetwork(String type) {
    return NETWORK_FILE_SYSTEMS.contains(type.toLowerCase(Locale.ROOT));
  }

  /**
   * Looks at the file from outside. To open and close it here would end all locks that SQLite has
   * on it for other clients of this process.
   */
  private static void checkFile(StoreUrl url, Path file) throws IOException {
    Path directory = SqliteDialect.behindLinks(file).getParent();
    if (directory == null || Files.isDirectory(file)) {
      throw new StoreConfigurationException("store '" + url + "': is a directory; name a file");
    }
    if (!Files.isDirectory(directory)) {
      throw new StoreConfigurationException(
          "store '" + url + "': directory " + directory + " does not exist; create it");
    }
    String type = Files.getFileStore(directory).type();
    if (isOfANetwork(type)) {
      throw new StoreConfigurationException(
          "store '"
              + url
              + "': "
              + directory
              + " is on a network file system ("
              + type
              + "), where SQLite cannot exclude; name a local file, or use a server");
    }
    if (!Files.exists(file)) {
      if (!Files.isWritable(directory)) {
        throw new StoreDeniedException(
            "store '" + url + "': this account may not create files in " + directory);
      }
      return;
    }
    if (!Files.isReadable(file) || !Files.isWritable(file)) {
      throw new StoreDeniedException(
          "store '" + url + "': this account may not read and write the file");
    }
    checkHasOneName(url, file.toRealPath());
  }

  /**
   * SQLite keeps its log beside the name by which it opens a file: whoever opens it by another name
   * has a log of its own, and is not excluded. Links that are symbolic lead to one name.
   */
  private static void checkHasOneName(StoreUrl url, Path file) throws IOException {
    boolean tellsLinks = Files.getFileStore(file).supportsFileAttributeView("unix");
    if (tellsLinks && (Integer) Files.getAttribute(file, "unix:nlink") > 1) {
      throw new StoreConfigurationException(
          "store '"
              + url
              + "': the file has another name, a hard link, and whoever opens it by that is not"
              + " excluded; delete all but one of its names");
    }
    if (Files.isReadable(MOUNTS) && isMounted(file, Files.readAllBytes(MOUNTS))) {
      throw new StoreConfigurationException(
          "store '"
              + url
              + "': the file is mounted by itself, and whoever opens it elsewhere is not excluded;"
              + " mount the directory that it is in");
    }
  }

  /** Whether {@code mounts}, as Linux lists them, have one on {@code file}. */
  static boolean isMounted(Path file, byte[] mounts) {
    String escaped =
        file.toString()
            .replace("\\", "\\134")
            .replace(" ", "\\040")
            .replace("\t", "\\011")
            .replace("\n", "\\012");
    return new String(mounts, StandardCharsets.UTF_8)
        .lines()
        .map(line -> line.split(" "))
        .anyMatch(words -> words.length > MOUNT_POINT && words[MOUNT_POINT].equals(escaped));
  }
}
