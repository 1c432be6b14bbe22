package io.pawl;

import io.pawl.engine.Lifecycle;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The candidacies of one client, which end before it does. */
final class Candidacies {

  private final Set<Candidacy> standing = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @throws IllegalStateException when the client is closed
   */
  Candidacy add(Candidacy candidacy) {
    standing.add(candidacy);
    if (closed) {
      forget(candidacy);
      throw Lifecycle.closedException(candidacy.name());
    }
    try {
      candidacy.start();
    } catch (Error e) { // no thread can be started
      forget(candidacy);
      throw e;
    }
    return candidacy;
  }

  private void forget(Candidacy candidacy) {
    standing.remove(candidacy);
    candidacy.neverBegins();
  }

  void remove(Candidacy candidacy) {
    standing.remove(candidacy);
  }

  /** Nobody stands from now on; leaders' bodies are interrupted. */
  void stop() {
    closed = true;
    standing.forEach(Candidacy::stop);
  }

  /** Completes when all have ended, but for the one whose body asks. */
  CompletableFuture<Void> ended() {
    return CompletableFuture.allOf(
        standing.stream()
            .filter(candidacy -> !candidacy.isHere())
            .map(Candidacy::ended)
            .toArray(CompletableFuture[]::new));
  }
}
