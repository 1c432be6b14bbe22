package io.pawl.bench.suite;

import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A candidate of {@link ElectionSuite}. It says {@code leads} and when, as soon as its body runs;
 * after a line it says {@code closes} and when, closes its client, and ends.
 */
final class ElectionFork {

  static final String ELECTION = "bench";

  private ElectionFork() {}

  /**
   * @param arguments address, lease in milliseconds
   */
  public static void main(String[] arguments) {
    int status = 0;
    LockOptions options =
        LockOptions.defaults().lease(Duration.ofMillis(Long.parseLong(arguments[1])));
    try (Pawl pawl = Pawl.connect(arguments[0])) {
      pawl.election(ELECTION, options).stand("a JVM of the bench", lease -> lead());
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
      System.out.println("closes " + System.nanoTime());
    } catch (IOException | RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    System.exit(status);
  }

  /** Until it is interrupted. */
  private static void lead() throws InterruptedException {
    System.out.println("leads " + System.nanoTime());
    new CountDownLatch(1).await();
  }
}
