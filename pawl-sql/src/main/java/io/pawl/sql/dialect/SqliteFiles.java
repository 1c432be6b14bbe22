package io.pawl.sql.dialect;

import io.pawl.error.StoreConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * Whether a database that is open still is the one that others open: the file, and {@code -wal} and
 * {@code -shm} beside it, which belong to it as long as anybody has it open. If one of the three is
 * deleted or replaced (by a cleaner of temporary files, or a restore), whoever comes next is not
 * excluded by what we write, and to mix the old with the new would damage both. So this store is
 * then lost for good: its holders are told, and whoever wants to go on opens it anew.
 *
 * <p>The same is seen where something in this process has opened and closed the file by itself,
 * which ends SQLite's locks on it, so that the next process to leave takes itself for the last and
 * deletes {@code -wal} and {@code -shm}.
 *
 * <p>Files are told apart by what the system calls them, which takes 1.5 microseconds each and
 * opens none. Where it does not say (Windows), an open file cannot be deleted. {@code -wal} is
 * asked for its identity no more than once in 10 ms, and in between only whether it is there: a
 * file whose times somebody has read takes new ones at its next write (Linux 6.13 and later), which
 * made each commit a third slower.
 */
final class SqliteFiles {

  private static final long OF_LATE_MILLIS = 500;
  private static final long LOG_IDENTITY_NANOS = 10_000_000;

  private final Path file;
  private final Path directory;
  private volatile @Nullable Object first;
  private volatile @Nullable String lost;

  SqliteFiles(Path file) {
    this.file = file;
    this.directory = file.resolveSibling(".");
  }

  /** Whether somebody, in whatever process, has written within the last 500 ms. */
  boolean wereWrittenOfLate() {
    Path log = besideFile("-wal");
    try {
      long age = System.currentTimeMillis() - Files.getLastModifiedTime(log).toMillis();
      return Math.abs(age) < OF_LATE_MILLIS;
    } catch (IOException e) {
      return false; // it is not there: nobody writes
    }
  }

  boolean areLost() {
    return lost != null;
  }

  /**
   * What to ask before each use of a connection, just opened, that has read and written.
   *
   * @throws StoreConfigurationException where it leads elsewhere than the first
   */
  Runnable opened() {
    if (key(directory) == null) {
      return () -> {};
    }
    if (first == null) {
      first = key(file);
    }
    Path index = besideFile("-shm");
    Object indexKey = key(index);
    Path log = besideFile("-wal");
    Object logKey = key(log);
    long[] lookedAt = {System.nanoTime()};
    return () -> {
      check(index, indexKey);
      long now = System.nanoTime();
      if (now - lookedAt[0] > LOG_IDENTITY_NANOS || !Files.exists(log)) {
        lookedAt[0] = now;
        check(log, logKey);
      }
      refuseOthers();
    };
  }

  private Path besideFile(String suffix) {
    Path named = byItsOwnName();
    return named.resolveSibling(named.getFileName() + suffix);
  }

  /** SQLite names what stands beside the file after what a link to it leads to. */
  private Path byItsOwnName() {
    try {
      return file.toRealPath();
    } catch (IOException e) {
      return file;
    }
  }

  /** Refuses to open a file that is not the first that this store has opened. */
  void refuseOthers() {
    check(file, first);
    refuseLost();
  }

  private void check(Path each, @Nullable Object expected) {
    if (expected != null && lost == null && !expected.equals(key(each))) {
      lost = each.toString();
    }
  }

  private void refuseLost() {
    String gone = lost;
    if (gone != null) {
      throw new StoreConfigurationException(
          "sqlite:"
              + file
              + ": "
              + gone
              + " was deleted or replaced while it was in use, so that nobody is excluded any"
              + " more; keep cleaners, restores and this process's own code away from the file, and"
              + " open the store anew");
    }
  }

  private static @Nullable Object key(Path file) {
    try {
      return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
    } catch (IOException e) {
      return null;
    }
  }
}
