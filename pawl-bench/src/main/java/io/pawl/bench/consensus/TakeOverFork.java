package io.pawl.bench.consensus;

import io.pawl.bench.rival.Rival;
import java.io.IOException;
import java.time.Duration;

/** A JVM that says {@code asks}, and {@code holds} and when as soon as it has the lock. */
final class TakeOverFork {

  private static final String LOCK = "take-over";

  private TakeOverFork() {}

  /**
   * @param arguments service, side, address, lease in milliseconds
   */
  public static void main(String[] arguments) {
    int status = 0;
    Duration lease = Duration.ofMillis(Long.parseLong(arguments[3]));
    try (Rival.Client client =
            Service.valueOf(arguments[0]).side(arguments[1], lease).connect(arguments[2]);
        Rival.Turn turn = client.lock(LOCK)) {
      System.out.println("asks");
      turn.acquire();
      System.out.println("holds " + System.nanoTime());
      System.in.read();
      turn.release();
    } catch (InterruptedException | IOException | RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    System.exit(status);
  }
}
