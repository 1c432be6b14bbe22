package io.pawl.zookeeper;

import java.util.ArrayDeque;

/**
 * What a session's server has answered of late, and whether that is enough for a request: the
 * package's description says why. Guarded by the mutex of its session.
 */
final class Warmth {

  /** A request that the server has answered. */
  private record Touch(long sentAt, long answeredAt) {}

  private final long tickNanos;
  private final ArrayDeque<Touch> touches = new ArrayDeque<>();
  private long lastAnswer;

  /** Of a session that begins now. */
  Warmth(long tickNanos, long now) {
    this.tickNanos = tickNanos;
    this.lastAnswer = now;
    // the leader itself notes a session that is made, so nothing is left to be passed on to it
    touches.add(new Touch(now, now - relayNanos()));
  }

  /** How much longer than a lease its session has to be. */
  static long spareNanos(long tickNanos) {
    return tickNanos / 4 * 7;
  }

  /** Within this time a follower passes on to the leader what it heard from whom. */
  long relayNanos() {
    return tickNanos / 4 * 3;
  }

  /**
   * Whether the leader has heard of the session so lately that it keeps the session for a lease
   * from now on, though the server that we are connected to should fail at once.
   */
  boolean isEnough(long now) {
    for (Touch touch : touches) {
      if (now - touch.sentAt <= spareNanos(tickNanos) && now - touch.answeredAt >= relayNanos()) {
        return true;
      }
    }
    return false;
  }

  void touched(long sentAt, long now) {
    lastAnswer = now;
    touches.add(new Touch(sentAt, now));
    while (touches.size() > 1 && now - touches.getFirst().sentAt > spareNanos(tickNanos)) {
      touches.removeFirst();
    }
  }

  /** A server has let the session in. */
  void connected(long now) {
    lastAnswer = now;
  }

  /** How long the server has said nothing. */
  long silentNanos(long now) {
    return now - lastAnswer;
  }
}
