package io.pawl.sql.dialect;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Whose turn it is to write a SQLite file, among the connections of this process. SQLite gives the
 * file to whoever asks first after a commit, which is mostly the one that has just committed;
 * others met a busy file for seconds. Here they write in the order in which they came. Between
 * processes it stays a matter of luck, tried again every 0.1 to 1 ms.
 */
final class FileTurns {

  private static final ConcurrentHashMap<Path, WeakReference<Semaphore>> turns =
      new ConcurrentHashMap<>();

  private FileTurns() {}

  /** One permit, shared by all who name the same file and given in order. */
  static Semaphore of(Path file) {
    Semaphore made = new Semaphore(1, true);
    turns.values().removeIf(turn -> turn.refersTo(null));
    Semaphore[] shared = {made};
    turns.compute(
        byItsOwnName(file),
        (path, turn) -> {
          Semaphore known = turn == null ? null : turn.get();
          if (turn == null || known == null) {
            return new WeakReference<>(made);
          }
          shared[0] = known;
          return turn;
        });
    return shared[0];
  }

  /** Without the links on the way to it, so that it has one name; it may be yet to be made. */
  private static Path byItsOwnName(Path file) {
    try {
      Path real = SqliteDialect.behindLinks(file);
      return real.resolveSibling(".").toRealPath().resolve(String.valueOf(real.getFileName()));
    } catch (IOException e) {
      return file;
    }
  }
}
