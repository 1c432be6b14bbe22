package io.pawl.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.api.StatefulConnection;
import io.pawl.concurrent.Uninterruptibly;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Ends of connections and clients, waited for, but not for ever. Interrupts are kept. */
final class Shutdown {

  private static final long SECONDS = 2;

  private Shutdown() {}

  /** Before its client ends, which would close it a second time. */
  static void of(StatefulConnection<?, ?> connection) {
    try {
      await(connection.closeAsync());
    } catch (RuntimeException closedAlready) {
      // the client's owner was faster
    }
  }

  /** What is under way, or has failed. */
  static void await(CompletionStage<?> stage) {
    Uninterruptibly.await(stage, TimeUnit.SECONDS.toNanos(SECONDS));
  }

  /**
   * A client of our own, with the threads that it started. Lettuce adds up what has ended in fields
   * without a lock: if the last thread ends as it is told whom to tell, nobody is told.
   */
  static void of(AbstractRedisClient client) {
    await(client.shutdownAsync(0, SECONDS, TimeUnit.SECONDS));
    client
        .getResources()
        .shutdown(0, SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(2 * SECONDS, TimeUnit.SECONDS);
  }
}
