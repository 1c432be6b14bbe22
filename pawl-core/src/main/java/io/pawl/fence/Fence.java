package io.pawl.fence;

import io.pawl.error.StaleTokenException;
import io.pawl.error.StoreException;
import java.nio.file.Path;

/**
 * Refuses the writes of holders that have been superseded, for resources that cannot compare tokens
 * themselves: files, devices, services behind HTTP. The server of the resource keeps a fence and
 * asks it before each write; clients send the token of their lease with the write. No clock is
 * involved: once a later holder has been seen, an earlier holder is refused, however long it was
 * paused.
 *
 * <pre>{@code
 * Fence fence = Fence.inDirectory(Path.of("/var/lib/app/fence"));
 * …
 * fence.write("report.csv", request.token(), () -> Files.write(report, request.body()));
 * }</pre>
 *
 * <p>A token is accepted if no larger one was seen for its resource. For SQL see {@code SqlFence},
 * for Redis {@code RedisFence}. Thread-safe.
 */
public interface Fence {

  /** A write to the fenced resource. */
  @FunctionalInterface
  interface Write<X extends Exception> {

    /** Writes. */
    void run() throws X;
  }

  /**
   * Runs {@code write} if no larger token was seen for {@code resource}, and remembers {@code
   * token} first. Writes to one resource run one after another, so that a later holder's write
   * cannot overtake one that was accepted. The fence remembers the token of a write that fails,
   * too.
   *
   * @param resource the name of what is protected, such as the lock's name: 1 to 512 bytes of UTF-8
   *     without control characters, compared byte for byte
   * @param token the token of the writer's lease
   * @throws StaleTokenException when a larger token was seen; nothing is written
   * @throws IllegalArgumentException for an invalid resource or token
   * @throws IllegalStateException when the fence is full, or within another write of this thread to
   *     {@code resource}
   * @throws StoreException when a stored fence cannot be read or written; nothing is written
   */
  <X extends Exception> void write(String resource, long token, Write<X> write) throws X;

  /**
   * Accepts {@code token} if no larger one was seen for {@code resource}, and remembers it. With
   * this alone, a slow write may happen after that of a later holder: use {@link #write} unless the
   * resource itself keeps writes in the order of their acceptance.
   */
  default void accept(String resource, long token) {
    write(resource, token, () -> {});
  }

  /**
   * Returns a fence that lives as long as this object. After a restart it knows nothing, and
   * accepts the first token of each resource even if it is stale; where that matters, use {@link
   * #inDirectory}.
   *
   * @param resources the largest number of resources that it remembers, at least 1. Beyond that it
   *     refuses new resources, since forgetting one would mean accepting stale tokens for it
   */
  static Fence inMemory(int resources) {
    return new MemoryFence(resources);
  }

  /**
   * Returns a fence in files, for all processes of this host that name the same directory. Each
   * resource has two files: a small one with its token, and one to lock it by. The fence survives
   * crashes of any of these processes, and loss of power as far as the disk honours fsync, which
   * each new token costs each process once or twice. Not for network file systems. Let nothing else
   * in this process open its files: the system's locks on a file end when the process closes it
   * anywhere. The files are never deleted; the two files of a resource that no longer exists may be
   * deleted while nobody writes.
   *
   * @param directory the directory, which is created if its parent exists
   * @throws StoreException when the directory cannot be created
   */
  static Fence inDirectory(Path directory) {
    return new DirectoryFence(directory);
  }
}
