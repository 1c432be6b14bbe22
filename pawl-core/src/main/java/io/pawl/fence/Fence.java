package io.pawl.fence;

import io.pawl.error.StaleTokenException;
import io.pawl.error.StoreException;
import java.nio.file.Path;

/**
 * Refuses the writes of holders that have been superseded, for resources that cannot compare tokens
 * themselves: files, devices, services behind HTTP. The server of the resource keeps a fence and
 * asks it before each write; clients send the token of their lease along. No clock is involved:
 * whoever was paused for however long is refused once a later holder has been seen.
 *
 * <pre>{@code
 * Fence fence = Fence.inDirectory(Path.of("/var/lib/app/fence"));
 * …
 * fence.write("report.csv", request.token(), () -> Files.write(report, request.body()));
 * }</pre>
 *
 * <p>A token is accepted when none larger was seen for its resource. For SQL see {@code SqlFence},
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
   * token} first. Writes to one resource run one after another, so that one that was let in cannot
   * be overtaken by one of a later holder. A write that fails leaves its token remembered.
   *
   * @param resource what is protected, such as the lock's name: 1 to 512 bytes of UTF-8 without
   *     control characters, compared byte for byte
   * @param token of the lease under which is written
   * @throws StaleTokenException when a larger token was seen; nothing is written
   * @throws IllegalArgumentException for a resource or token that cannot be
   * @throws IllegalStateException when the fence is full, or within another write of this thread to
   *     {@code resource}
   * @throws StoreException when a stored fence cannot be read or written; nothing is written
   */
  <X extends Exception> void write(String resource, long token, Write<X> write) throws X;

  /**
   * Accepts {@code token} if no larger one was seen for {@code resource}, and remembers it. This
   * alone lets a slow write happen after that of a later holder: use {@link #write} unless the
   * resource itself keeps writes in the order of their acceptance.
   */
  default void accept(String resource, long token) {
    write(resource, token, () -> {});
  }

  /**
   * A fence that lives as long as this object. After a restart it knows nothing, and the first
   * token of each resource is accepted, be it stale: store it where that matters.
   *
   * @param resources how many it remembers at most, at least 1. Beyond them it refuses new ones: to
   *     forget one would be to accept stale tokens for it
   */
  static Fence inMemory(int resources) {
    return new MemoryFence(resources);
  }

  /**
   * A fence in files, one small one for each resource and one to lock it by, for all processes of
   * this host that name the same directory. It survives crashes of any of them, and loss of power
   * as far as the disk honours fsync, which each new token costs. Not for network file systems. Let
   * nothing else in this process open its files: the system's locks on a file end when the process
   * closes it anywhere. The files are never deleted: a resource that is no more may lose its two
   * files while nobody writes.
   *
   * @param directory is created if its parent exists
   * @throws StoreException when it cannot be
   */
  static Fence inDirectory(Path directory) {
    return new DirectoryFence(directory);
  }
}
