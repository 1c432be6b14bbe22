package io.pawl.fence;

import io.pawl.error.StaleTokenException;
import io.pawl.spi.LockName;
import io.pawl.spi.Tokens;
import java.util.concurrent.locks.ReentrantLock;

/** What every fence checks. */
final class Fences {

  private Fences() {}

  static void check(String resource, long token) {
    LockName.check(resource);
    if (token < 1 || token > Tokens.MAX) {
      throw new IllegalArgumentException(
          "token of '" + resource + "': " + token + " is not between 1 and 2^53 - 1");
    }
  }

  /** The turn of this thread; a write within a write would overtake it. */
  static void lock(ReentrantLock turn, String resource) {
    if (turn.isHeldByCurrentThread()) {
      throw new IllegalStateException(
          "fence for '" + resource + "': this thread is in a write of it; end that one first");
    }
    turn.lock();
  }

  static StaleTokenException stale(String resource, long token, long seen) {
    return new StaleTokenException(
        "token " + token + " for '" + resource + "' is stale: " + seen + " has been here", token);
  }
}
