package io.pawl.bench.suite;

import com.sun.management.OperatingSystemMXBean;
import io.pawl.bench.BenchException;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SpringLocks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The JVM of a {@link WaitingSuite}: one client holds the lock, the others wait for it. It says
 * {@code waiting}; from the next line to the one after it counts its CPU, and says {@code waited}.
 */
final class WaitingFork {

  private WaitingFork() {}

  /**
   * @param arguments rival, address, how many clients wait
   */
  public static void main(String[] arguments) {
    int status = 0;
    Rival rival =
        arguments[0].equals(SpringLocks.NAME)
            ? new SpringLocks(Duration.ofDays(1))
            : PawlRival.passing("");
    try {
      Rival.Turn held = rival.connect(arguments[1]).lock(WaitingSuite.LOCK);
      held.acquire();
      waitFor(rival, arguments[1], Integer.parseInt(arguments[2]));
      Reference.reachabilityFence(held); // a lease that nobody can reach is left to run out
    } catch (IOException | InterruptedException | RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    System.exit(status);
  }

  private static void waitFor(Rival rival, String address, int clients) throws IOException {
    List<Thread> threads = new ArrayList<>();
    for (int client = 0; client < clients; client++) {
      Rival.Turn turn = rival.connect(address).lock(WaitingSuite.LOCK);
      Thread thread = new Thread(() -> acquire(turn), "waiter-" + client);
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    System.out.println("waiting");
    BufferedReader told =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    told.readLine();
    long cpu = cpuNanos();
    long from = System.nanoTime();
    told.readLine();
    double cpuSecondsPerMinute = (cpuNanos() - cpu) * 60.0 / (System.nanoTime() - from);
    if (!threads.stream().allMatch(Thread::isAlive)) {
      throw new BenchException("a client does not wait any more");
    }
    System.out.println("waited " + cpuSecondsPerMinute);
  }

  private static void acquire(Rival.Turn turn) {
    try {
      turn.acquire();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static long cpuNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }
}
