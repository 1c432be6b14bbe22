package io.pawl.fence;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.error.StoreException;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/**
 * See {@link Fence#inDirectory}. For each resource a file {@code <hash>} with the largest token and
 * the resource's name, replaced as a whole and only after it is on the disk; and an empty file
 * {@code <hash>.lock}, on which the operating system excludes other processes.
 */
final class DirectoryFence implements Fence {

  private static final Pattern TOKEN = Pattern.compile("[1-9][0-9]{0,15}");

  private static final int MOST_FORCED = 10_000;

  /**
   * The system's locks on files are the process's, and closing any descriptor of a file ends them
   * all: its threads exclude each other here before one of them opens the file, by whatever path
   * they came. A place is a directory, as the system knows it, and a hash.
   */
  static final ConcurrentHashMap<List<Object>, Turn> TURNS = new ConcurrentHashMap<>();

  /**
   * Files that something else in this process has locked, such as a second copy of this class:
   * opened, and not closed until they were locked, which would end the other's lock.
   */
  private static final ConcurrentHashMap<List<Object>, FileChannel> NOT_OURS =
      new ConcurrentHashMap<>();

  /** A place for the threads of this process to take turns; gone with the last of them. */
  static final class Turn {
    private final ReentrantLock mutex = new ReentrantLock();
    private int users;
  }

  /** Puts the names of a directory's files on the disk. */
  @FunctionalInterface
  interface Forcing {
    void force(Path directory) throws IOException;
  }

  private final Path directory;
  private final Forcing forcing;

  /** The tokens whose files are known to be on the disk, under their names. */
  private final ConcurrentHashMap<List<Object>, Long> forced = new ConcurrentHashMap<>();

  DirectoryFence(Path directory) {
    this(directory, DirectoryFence::forceNames);
  }

  DirectoryFence(Path directory, Forcing forcing) {
    this.forcing = forcing;
    try {
      create(directory);
      this.directory = directory.toRealPath();
    } catch (IOException e) {
      throw new StoreException("fence in " + directory + ": cannot be used: " + e, e);
    }
  }

  /** Somebody else may create it at the same moment. */
  private static void create(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      try {
        Files.createDirectory(directory);
      } catch (FileAlreadyExistsException e) {
        if (!Files.isDirectory(directory)) {
          throw e;
        }
      }
    }
  }

  @Override
  public <X extends Exception> void write(String resource, long token, Write<X> write) throws X {
    Fences.check(resource, token);
    String hash = hash(resource);
    Path file = directory.resolve(hash);
    List<Object> place = List.of(key(file, resource), hash);
    Turn turn = enter(place);
    try {
      Fences.lock(turn.mutex, resource);
      try {
        writeAlone(place, file, resource, token, write);
      } finally {
        turn.mutex.unlock();
      }
    } finally {
      leave(place);
    }
  }

  /** What the system calls the directory; its path where it does not say. */
  private Object key(Path file, String resource) {
    try {
      Object key = Files.readAttributes(directory, BasicFileAttributes.class).fileKey();
      return key == null ? directory : key;
    } catch (IOException e) {
      throw failure(file, resource, e);
    }
  }

  private static Turn enter(List<Object> place) {
    Turn turn =
        TURNS.compute(
            place,
            (key, known) -> {
              Turn mine = known == null ? new Turn() : known;
              mine.users++;
              return mine;
            });
    return turn;
  }

  private static void leave(List<Object> place) {
    TURNS.computeIfPresent(place, (key, turn) -> --turn.users == 0 ? null : turn);
  }

  private <X extends Exception> void writeAlone(
      List<Object> place, Path file, String resource, long token, Write<X> write) throws X {
    try (OneProcess alone = OneProcess.enter(place, file, resource)) {
      long seen = read(file, resource);
      if (token < seen) {
        throw Fences.stale(resource, token, seen);
      }
      if (token > seen) {
        forced.remove(place);
        store(file, resource, token);
      }
      forceName(place, file, resource, token);
      write.run();
    }
  }

  /** While it is open, other processes wait. */
  private record OneProcess(FileChannel channel, Path file, String resource)
      implements AutoCloseable {

    static OneProcess enter(List<Object> place, Path file, String resource) {
      OneProcess entered;
      try {
        Path lock = file.resolveSibling(file.getFileName() + ".lock");
        FileChannel channel = NOT_OURS.remove(place);
        if (channel == null) {
          channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        }
        entered = new OneProcess(channel, file, resource);
      } catch (IOException e) {
        throw failure(file, resource, e);
      }
      try {
        entered.channel.lock();
        return entered;
      } catch (OverlappingFileLockException e) {
        NOT_OURS.put(place, entered.channel);
        throw new StoreException(
            "fence for '"
                + resource
                + "': something else in this process has locked "
                + file
                + ".lock; load Pawl once, and let nothing else open it",
            e);
      } catch (IOException e) {
        entered.close();
        throw failure(file, resource, e);
      }
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        throw failure(file, resource, e);
      }
    }
  }

  /** The largest token so far, 0 where there is none. */
  private static long read(Path file, String resource) {
    String text;
    try {
      text = Files.readString(file);
    } catch (NoSuchFileException e) {
      return 0;
    } catch (IOException e) {
      throw failure(file, resource, e);
    }
    String end = " " + resource + "\n";
    if (text.endsWith(end)
        && TOKEN.matcher(text.substring(0, text.length() - end.length())).matches()) {
      return Long.parseLong(text.substring(0, text.length() - end.length()));
    }
    throw new StoreException(
        "fence for '"
            + resource
            + "': "
            + file
            + " is damaged; write '<largest token> "
            + resource
            + "' into it");
  }

  private static void store(Path file, String resource, long token) {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    try {
      try (FileChannel channel =
          FileChannel.open(
              fresh,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        ByteBuffer text = ByteBuffer.wrap((token + " " + resource + "\n").getBytes(UTF_8));
        while (text.hasRemaining()) {
          channel.write(text);
        }
        channel.force(true);
      }
      Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw failure(file, resource, e);
    }
  }

  /**
   * So that the new name is on the disk as well, whoever gave it: another process may have ended
   * before it came to this.
   */
  private void forceName(List<Object> place, Path file, String resource, long token) {
    Long known = forced.get(place);
    if (known != null && known == token) {
      return;
    }
    try {
      forcing.force(directory);
    } catch (IOException e) {
      throw failure(file, resource, e);
    }
    if (forced.size() >= MOST_FORCED) {
      forced.clear(); // which costs one more force each
    }
    forced.put(place, token);
  }

  /** Windows has no such call, and needs none. */
  private static void forceNames(Path directory) throws IOException {
    if (File.separatorChar == '\\') {
      return;
    }
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  private static StoreException failure(Path file, String resource, IOException cause) {
    return new StoreException(
        "fence for '" + resource + "': " + file + " cannot be read or written: " + cause, cause);
  }

  static String hash(String resource) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(resource.getBytes(UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
