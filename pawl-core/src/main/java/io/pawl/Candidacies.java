package io.pawl;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** The candidacies of one client, which end before it does. */
final class Candidacies {

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Set<Candidacy> standing = ConcurrentHashMap.newKeySet();

  Candidacy add(Candidacy candidacy) {
    standing.add(candidacy);
    candidacy.start();
    return candidacy;
  }

  void remove(Candidacy candidacy) {
    standing.remove(candidacy);
  }

  /**
   * Ends all and waits for the leaders' bodies, for at most 5 s altogether; the lease of one that
   * goes on is left to run out, so that nobody is let in beside it at once.
   */
  void end() {
    List<Candidacy> all = List.copyOf(standing);
    all.forEach(Candidacy::stop);
    long giveUpAt = System.nanoTime() + PATIENCE_NANOS;
    for (Candidacy candidacy : all) {
      if (!candidacy.awaitEnd(giveUpAt - System.nanoTime())) {
        candidacy.leaveLeaseToRunOut();
      }
    }
  }
}
