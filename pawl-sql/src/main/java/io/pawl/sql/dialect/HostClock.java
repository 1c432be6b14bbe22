package io.pawl.sql.dialect;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * A clock that all processes of a host share, so that setting the wall clock changes nothing.
 *
 * <p>On Linux {@link System#nanoTime} reads the kernel's monotonic clock, whose origin is the boot:
 * the same for every JVM, in containers too. The processes agree, in the file, on what to add to it
 * to get milliseconds since 1970, and on the boot for which that holds. Elsewhere the origin of
 * {@code nanoTime} is not known to be shared, and the wall clock is used.
 *
 * @param boot which boot of the host {@code monotonic} counts from
 * @param monotonic milliseconds that all processes of the host agree on
 * @param wall milliseconds since 1970, as somebody set them
 */
public record HostClock(String boot, LongSupplier monotonic, LongSupplier wall) {

  private static final String NO_BOOT = "wall clock";
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  static HostClock ofThisHost() {
    LongSupplier wall = System::currentTimeMillis;
    if (!Files.isReadable(BOOT_ID)) {
      return new HostClock(NO_BOOT, wall, wall);
    }
    try {
      String boot = Files.readString(BOOT_ID).strip();
      return new HostClock(boot, () -> System.nanoTime() / 1_000_000, wall);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
