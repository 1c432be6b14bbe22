package io.pawl.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A store that remembers every lock that was ever used, until it is told to forget those that
 * nobody uses. Thread-safe. Its methods work through all locks in small steps, between which others
 * are served, and so may take minutes; what they have done stays done if they fail.
 */
public interface Maintainable {

  /** The shortest {@link #purge idle time}, one hour: no message is under way for so long. */
  Duration SHORTEST_IDLE = Duration.ofHours(1);

  /**
   * By how much {@link #raiseTokens} raises tokens unless told otherwise, 2<sup>40</sup>: more than
   * can be granted in the time that a restore loses.
   */
  long TOKENS_RAISED_BY = 1L << 40;

  /** The most by which {@link #raiseTokens} raises tokens at once, 2<sup>50</sup>. */
  long MOST_RAISED = 1L << 50;

  /**
   * Whether there is anything to maintain: a store made of others may have nothing. No round trip.
   */
  default boolean isMaintained() {
    return true;
  }

  /**
   * Forgets the locks that nobody holds or waits for, and that were last used longer than {@code
   * idle} ago by the store's clock, and claims in queues that ended as long ago. Tokens go on
   * growing: the first token of a lock that was forgotten is larger than all that it ever granted.
   * So is the kind forgotten: the next grant fixes it anew.
   *
   * @param idle {@link #SHORTEST_IDLE} to {@link DurationText#LONGEST}
   * @return how many locks were forgotten
   */
  CompletionStage<Long> purge(Duration idle);

  /**
   * Raises the fencing tokens of all locks, known or not, so that the next ones are larger than any
   * that may have been granted after the state of the store was saved: for after a restore from a
   * backup, or a failover that has lost commits. Holders keep the tokens that they have. To be
   * called while no client uses the store: a lock that is made or kept locked by somebody else's
   * transaction at that moment may be left out, or fail the call after some seconds.
   *
   * @param by 1 to {@link #MOST_RAISED}
   * @return how many locks are known
   */
  CompletionStage<Long> raiseTokens(long by);
}
