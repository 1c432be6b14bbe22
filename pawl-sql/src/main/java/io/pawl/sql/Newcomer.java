package io.pawl.sql;

import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.QuorumNode.Incarnation;
import io.pawl.sql.lock.Upkeep;
import java.time.Duration;

/**
 * How long a database stays out of a quorum that has no tokens, being new or emptied: for a longest
 * lease, from when this client has first seen it so. It may have been raised since, and emptied
 * again: tokens that were seen meanwhile tell. Thread-safe.
 */
final class Newcomer {

  private final Duration longestLease;
  private long since;
  private boolean isNew;

  /** The largest token of a lock there, as far as this client knows. */
  private long seen;

  Newcomer(Duration longestLease) {
    this.longestLease = longestLease;
  }

  synchronized Incarnation incarnation(String server, Upkeep.Highest tokens) {
    boolean raised = tokens.forgotten() > 0;
    if (!raised && (!isNew || tokens.known() < seen)) {
      since = System.nanoTime();
      seen = tokens.known();
    }
    isNew = !raised;
    Duration left = longestLease.minusNanos(System.nanoTime() - since);
    return new Incarnation(
        server,
        raised || left.isNegative() ? Duration.ZERO : left,
        since,
        raised,
        Math.max(tokens.forgotten(), tokens.known()));
  }

  /**
   * Notes the last token of a lock that is attempted.
   *
   * @throws StoreUnavailableException where there is none
   */
  void checkVotes(String server, long lastToken) {
    if (lastToken == 0) {
      throw doesNotVote(server);
    }
    saw(lastToken);
  }

  private synchronized void saw(long token) {
    seen = Math.max(seen, token);
  }

  private static StoreUnavailableException doesNotVote(String server) {
    return StoreUnavailableException.unsent(
        server
            + " has no tokens, and so is new or was emptied; it votes once a client has told it"
            + " those of a majority of the other nodes",
        null);
  }
}
