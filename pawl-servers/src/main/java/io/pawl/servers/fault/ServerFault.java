package io.pawl.servers.fault;

import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.ServerException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/** What can happen to a server, or to the network before it, for a while. */
public enum ServerFault {
  SERVER_KILLED("kill -9 and restart of the server"),
  SERVER_STOPPED("SIGSTOP of the server"),
  CONNECTIONS_RESET("connections reset"),
  REPLIES_DROPPED("replies dropped, connection reset"),
  REPLIES_SILENCED("replies dropped, connection silent"),
  /** Only where {@link FaultProxy#knowsPushes the proxy knows them}. */
  PUSHES_DROPPED("bells dropped"),
  CABLE_CUT("network cut"),
  NETWORK_SLOW("network slow, 150 ms each way");

  private static final Duration DELAY = Duration.ofMillis(150);
  private static final long LOOK_MILLIS = 10;
  private static final long MOST_LONGER_MILLIS = 2_000;

  private final String title;

  ServerFault(String title) {
    this.title = title;
  }

  /** Returns what happens, in words. */
  public String title() {
    return title;
  }

  /**
   * Plays it and ends it. A fault that has hit nobody when its time is over lasts until it has, at
   * most 2 s longer.
   *
   * @param millis how long it lasts, where it lasts
   * @param replies how many are dropped, where some are
   * @return how much it hit: connections that broke, replies or pushes that were dropped, or
   *     requests that came meanwhile
   */
  public int play(ProxiedServer on, long millis, int replies) {
    FaultProxy proxy = on.proxy();
    int requests = proxy.requests();
    int dropped = proxy.droppedReplies();
    return switch (this) {
      case SERVER_KILLED -> {
        int hit = await(proxy::connections, 1, 0);
        on.server().kill();
        pause(millis);
        on.server().restart();
        yield hit;
      }
      case SERVER_STOPPED -> {
        on.server().pause();
        pause(millis);
        int hit = await(() -> proxy.requests() - requests, 1, 0);
        on.server().resume();
        yield hit;
      }
      case CONNECTIONS_RESET -> {
        int hit = await(proxy::connections, 1, 0);
        proxy.reset();
        yield hit;
      }
      case REPLIES_DROPPED -> {
        proxy.dropReplies(replies, AfterDrop.RESET);
        await(() -> proxy.droppedReplies() - dropped, replies, millis);
        yield healed(proxy, () -> proxy.droppedReplies() - dropped);
      }
      case REPLIES_SILENCED -> {
        proxy.dropReplies(replies, AfterDrop.SILENCE);
        pause(millis);
        yield healed(proxy, () -> proxy.droppedReplies() - dropped);
      }
      case PUSHES_DROPPED -> {
        int pushes = proxy.droppedPushes();
        proxy.dropPushes();
        pause(millis);
        yield healed(proxy, () -> proxy.droppedPushes() - pushes);
      }
      case CABLE_CUT -> {
        proxy.cut();
        pause(millis);
        yield healed(proxy, () -> proxy.requests() - requests);
      }
      case NETWORK_SLOW -> {
        proxy.delay(Direction.TO_SERVER, DELAY);
        proxy.delay(Direction.TO_CLIENT, DELAY);
        pause(millis);
        yield healed(proxy, () -> proxy.requests() - requests);
      }
    };
  }

  private static int healed(FaultProxy proxy, IntSupplier hits) {
    int hit = await(hits, 1, 0);
    proxy.heal();
    return hit;
  }

  /** Returns when there are so many, or none after 2 s, or fewer after {@code millis}. */
  private static int await(IntSupplier hits, int many, long millis) {
    long from = System.nanoTime();
    while (hits.getAsInt() < many) {
      long bound = hits.getAsInt() == 0 ? Math.max(millis, MOST_LONGER_MILLIS) : millis;
      if (System.nanoTime() - from >= TimeUnit.MILLISECONDS.toNanos(bound)) {
        break;
      }
      pause(LOOK_MILLIS);
    }
    return hits.getAsInt();
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted during a fault", e);
    }
  }
}
