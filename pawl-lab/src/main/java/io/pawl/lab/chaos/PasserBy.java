package io.pawl.lab.chaos;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.PawlException;
import java.util.concurrent.TimeUnit;

/**
 * Comes from a process of its own, past all proxies, takes a lock that nobody else wants, and goes
 * with all that it opened, again and again: what a store leaves to the last one that goes must not
 * happen while others stay.
 */
final class PasserBy implements AutoCloseable {

  private static final long PAUSE_MILLIS = 500;
  private static final long END_SECONDS = 30;

  private final String address;
  private final Thread thread = new Thread(this::run, "chaos-passer-by");

  PasserBy(String address) {
    this.address = address;
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(PAUSE_MILLIS);
        try (Pawl pawl = Pawl.connect(address)) {
          pawl.lock("chaos-passer-by").tryAcquire().ifPresent(Lease::close);
        } catch (PawlException e) {
          continue; // the server is away just now
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    }
  }

  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
