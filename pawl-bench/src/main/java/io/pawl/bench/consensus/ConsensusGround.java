package io.pawl.bench.consensus;

import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.HeldContest;

/** Servers of our own: one, or three of which the leader can die. */
interface ConsensusGround extends ContestSuite.Ground, HeldContest.Server {

  /** Requests that clients have sent to all members since these started. */
  long requests();

  /** Ends the leader as a crash does. */
  void killLeader();

  /** Starts it again, and returns once all members serve. */
  void mend();

  @Override
  default long renewals() {
    return requests();
  }

  @Override
  default long commands() {
    return requests();
  }

  @Override
  void close();
}
