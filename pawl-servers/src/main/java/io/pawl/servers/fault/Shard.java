package io.pawl.servers.fault;

import io.pawl.servers.RedisServer;
import io.pawl.servers.ServerException;
import java.util.concurrent.TimeUnit;

/**
 * A primary and its replica, which takes over when the primary is away; they change places each
 * time. Roles are asked of the servers, which must all be up.
 */
public record Shard(String name, ProxiedServer one, ProxiedServer other) {

  private static final long TAKEOVER_SECONDS = 30;
  private static final long LOOK_MILLIS = 20;

  /** Returns the one that is the primary just now. */
  public ProxiedServer primary() {
    return isPrimary(one) ? one : other;
  }

  /** Returns the one that is the replica just now. */
  public ProxiedServer replica() {
    return isPrimary(one) ? other : one;
  }

  private static boolean isPrimary(ProxiedServer server) {
    return ((RedisServer) server.server()).isPrimary();
  }

  /** Ends the primary as a crash does, and starts it anew once the replica has taken over. */
  public void killUntilTakeover() {
    ProxiedServer primary = primary();
    ProxiedServer replica = replica();
    primary.server().kill();
    awaitPrimary(replica);
    primary.server().restart();
  }

  /**
   * Stops the primary (SIGSTOP) until the replica has taken over; returns how many requests came to
   * it meanwhile.
   */
  public int stopUntilTakeover() {
    ProxiedServer primary = primary();
    ProxiedServer replica = replica();
    int before = primary.proxy().requests();
    primary.server().pause();
    try {
      awaitPrimary(replica);
    } finally {
      primary.server().resume();
    }
    return primary.proxy().requests() - before;
  }

  private static void awaitPrimary(ProxiedServer replica) {
    long from = System.nanoTime();
    while (!isPrimary(replica)) {
      if (System.nanoTime() - from > TimeUnit.SECONDS.toNanos(TAKEOVER_SECONDS)) {
        throw new ServerException(
            replica.server() + " did not take over in " + TAKEOVER_SECONDS + " s");
      }
      try {
        Thread.sleep(LOOK_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ServerException("interrupted during a takeover", e);
      }
    }
  }
}
