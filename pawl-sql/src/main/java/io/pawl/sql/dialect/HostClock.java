package io.pawl.sql.dialect;

import io.pawl.error.StoreConfigurationException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * A clock that all processes of a host share, so that setting the wall clock changes nothing.
 *
 * <p>On Linux {@link System#nanoTime} reads the kernel's monotonic clock, whose origin is the boot:
 * the same for every JVM, in containers too; what a time namespace adds to it is taken off. The
 * processes agree, in the file, on what to add to it to get milliseconds since 1970, and on the
 * boot for which that holds. Elsewhere the origin of {@code nanoTime} is not known to be shared,
 * and the wall clock is used.
 *
 * @param boot which boot of the host {@code monotonic} counts from
 * @param monotonic milliseconds that all processes of the host agree on
 * @param wall milliseconds since 1970, as somebody set them
 */
public record HostClock(String boot, LongSupplier monotonic, LongSupplier wall) {

  /** In place of a boot, where nothing but the wall clock is shared. */
  static final String NO_BOOT = "wall clock";

  static HostClock ofThisHost() {
    LongSupplier wall = System::currentTimeMillis;
    boolean linux = System.getProperty("os.name", "").equals("Linux");
    return linux ? ofLinux(Path.of("/proc")) : new HostClock(NO_BOOT, wall, wall);
  }

  static HostClock ofLinux(Path proc) {
    Path bootId = proc.resolve("sys/kernel/random/boot_id");
    Path offsets = proc.resolve("self/timens_offsets");
    try {
      String boot = Files.readString(bootId).strip();
      checkNamespace(proc.resolve("self/ns"));
      long aheadNanos = aheadOfHostNanos(offsets);
      LongSupplier monotonic = () -> (System.nanoTime() - aheadNanos) / 1_000_000;
      return new HostClock(boot, monotonic, System::currentTimeMillis);
    } catch (IOException e) {
      throw new StoreConfigurationException(
          "the clock that the processes of this host share cannot be told, since "
              + bootId
              + " or "
              + offsets
              + " cannot be read; let this process read /proc",
          e);
    }
  }

  /**
   * The offsets are those of the namespace that the process has for its children. Where another one
   * is its own, its own offset is written nowhere.
   */
  private static void checkNamespace(Path namespaces) throws IOException {
    Path own = namespaces.resolve("time");
    Path children = namespaces.resolve("time_for_children");
    if (Files.isSymbolicLink(own)
        && Files.isSymbolicLink(children)
        && !Files.readSymbolicLink(own).equals(Files.readSymbolicLink(children))) {
      throw new StoreConfigurationException(
          "the clock that the processes of this host share cannot be told, since this process is in"
              + " another time namespace than its children will be; start it by 'unshare --fork'");
    }
  }

  /** How far the monotonic clock of this process's time namespace is ahead of the host's. */
  private static long aheadOfHostNanos(Path offsets) throws IOException {
    if (!Files.exists(offsets)) {
      return 0; // a kernel without time namespaces
    }
    for (String line : Files.readAllLines(offsets)) {
      String[] words = line.strip().split("\\s+");
      if (words[0].equals("monotonic")) {
        return Long.parseLong(words[1]) * 1_000_000_000 + Long.parseLong(words[2]);
      }
    }
    throw new IOException(offsets + " does not name the monotonic clock");
  }

  boolean isMonotonic() {
    return !boot.equals(NO_BOOT);
  }

  long millis() {
    return monotonic.getAsLong();
  }

  /** What to add to {@link #millis} to get milliseconds since 1970, by today's wall clock. */
  long epochOffsetMillis() {
    return wall.getAsLong() - millis();
  }
}
