package io.pawl.sql;

import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.QuorumNode.Incarnation;
import io.pawl.sql.lock.Upkeep;
import java.time.Duration;
import java.util.function.Supplier;

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

  /**
   * @param look reads the tokens; it may miss what is granted meanwhile
   */
  Incarnation incarnation(String server, Supplier<Upkeep.Highest> look) {
    long seenBefore = seen();
    return incarnation(server, look.get(), seenBefore);
  }

  private synchronized Incarnation incarnation(
      String server, Upkeep.Highest tokens, long seenBefore) {
    boolean raised = tokens.forgotten() > 0;
    if (!raised && (!isNew || tokens.known() < seenBefore)) {
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
   * @param lastToken of a lock that is attempted
   * @throws StoreUnavailableException where there is none
   */
  static void checkVotes(String server, long lastToken) {
    if (lastToken == 0) {
      throw doesNotVote(server);
    }
  }

  private synchronized long seen() {
    return seen;
  }

  /** Notes a token that is committed: a look that begins from now on sees it. */
  synchronized void saw(long token) {
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
