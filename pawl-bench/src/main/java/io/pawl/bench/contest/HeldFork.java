package io.pawl.bench.contest;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

/**
 * The JVM that holds locks for a {@link HeldContest}. It says {@code ready}, and holds from the
 * next line on; {@code held}, and counts after the next; {@code counted}, and gives back after the
 * next; {@code closed}, and ends.
 */
final class HeldFork {

  private static final long LOOK_NANOS = 5_000_000_000L;

  private HeldFork() {}

  /**
   * @param arguments side, address, locks, milliseconds
   */
  public static void main(String[] arguments) {
    int status = 0;
    int locks = Integer.parseInt(arguments[2]);
    try (Held held = Held.connect(arguments[0], arguments[1], locks)) {
      hold(held, Long.parseLong(arguments[3]) * 1_000_000);
    } catch (IOException | InterruptedException | RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    if (status == 0) {
      System.out.println("closed");
    }
    // Not by returning: what a client leaves running must not keep the process.
    System.exit(status);
  }

  private static void hold(Held held, long nanos) throws IOException, InterruptedException {
    BufferedReader told =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    long takingFrom = System.nanoTime();
    held.take();
    System.out.println("ready " + (System.nanoTime() - takingFrom) / 1e9);
    told.readLine();

    long cpu = cpuNanos();
    long from = System.nanoTime();
    double age = 0;
    for (long left = nanos; left > 0; left = nanos - (System.nanoTime() - from)) {
      Thread.sleep(Math.min(left, LOOK_NANOS) / 1_000_000 + 1);
      age = Math.max(age, held.renewalAgeSeconds());
    }
    double cpuSecondsPerMinute = (cpuNanos() - cpu) * 60.0 / (System.nanoTime() - from);
    System.out.println("held " + cpuSecondsPerMinute + " " + age);
    told.readLine();

    int invalid = held.invalid();
    System.out.println("counted " + held.lost() + " " + invalid + " " + heapMegabytes());
    told.readLine();
    held.release();
  }

  private static long cpuNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }

  /** After a collection, with all locks still held. */
  private static double heapMegabytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1e6;
  }
}
