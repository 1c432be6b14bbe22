package io.pawl.bench.consensus;

import io.pawl.bench.rival.Rival;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM with some clients, each of which takes and gives back a lock of its own without pause. It
 * says {@code ready} when each has had its lock; from the next line to the one after it counts, and
 * says {@code gaps}.
 */
final class LeaderFork {

  private static final int CLIENTS = 4;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private LeaderFork() {}

  /**
   * @param arguments service, side, address
   */
  public static void main(String[] arguments) {
    int status = 0;
    Service service = Service.valueOf(arguments[0]);
    Rival rival = service.usual(arguments[1]);
    Gaps gaps = new Gaps(CLIENTS, System.nanoTime());
    CountDownLatch ready = new CountDownLatch(CLIENTS);
    BufferedReader told =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try {
      for (int number = 0; number < CLIENTS; number++) {
        int client = number;
        Rival.Turn turn = rival.connect(arguments[2]).lock("client-" + client);
        Thread thread = new Thread(() -> cycle(client, turn, gaps, ready), "client-" + client);
        thread.setDaemon(true);
        thread.start();
      }
      ready.await();
      System.out.println("ready");
      told.readLine();
      gaps.begin(System.nanoTime());
      told.readLine();
      System.out.println("gaps " + gaps.told(System.nanoTime()));
    } catch (InterruptedException | IOException | RuntimeException e) {
      e.printStackTrace();
      status = 1;
    }
    // Not by closing: what a client does without a leader is not measured here.
    System.exit(status);
  }

  private static void cycle(int client, Rival.Turn turn, Gaps gaps, CountDownLatch ready) {
    while (true) {
      try {
        turn.acquire();
        gaps.granted(client, System.nanoTime());
        ready.countDown();
        turn.release();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (RuntimeException e) {
        gaps.failed();
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }
}
