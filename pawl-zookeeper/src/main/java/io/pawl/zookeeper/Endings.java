package io.pawl.zookeeper;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this client that are on their way out, by lock, and the attempts that wait for
 * them. What is asked under one session the service does in its order; what is asked under another
 * waits here, and so does whatever is asked after that. Thread-safe.
 */
final class Endings {

  /**
   * @param session under which all of it was asked; null where there are several
   * @param all completes when all of it has been answered, or has failed
   */
  private record Ending(@Nullable Session session, CompletableFuture<Void> all) {}

  private final Map<String, Ending> byLock = new ConcurrentHashMap<>();

  /** Such a claim is sent away. */
  void begins(String lock, Session session, CompletableFuture<Void> end) {
    Ending ending =
        byLock.merge(
            lock,
            new Ending(session, settled(end)),
            (before, last) ->
                before.all.isDone()
                    ? last
                    : new Ending(
                        before.session == last.session ? last.session : null,
                        CompletableFuture.allOf(before.all, last.all)));
    forgetAfter(lock, ending);
  }

  /**
   * Returns what completes when an attempt may be sent: now, or behind what was asked before under
   * another session. One that waits has its place here until it has its {@code answer}.
   */
  CompletableFuture<Void> behind(String lock, Session session, CompletableFuture<?> answer) {
    Ending before = byLock.get(lock);
    while (before != null && before.session != session) {
      Ending both = new Ending(null, CompletableFuture.allOf(before.all, settled(answer)));
      if (byLock.replace(lock, before, both)) {
        forgetAfter(lock, both);
        return before.all;
      }
      before = byLock.get(lock);
    }
    return CompletableFuture.completedFuture(null);
  }

  private static CompletableFuture<Void> settled(CompletableFuture<?> stage) {
    return stage.handle((value, error) -> null);
  }

  private void forgetAfter(String lock, Ending ending) {
    ending.all.thenRun(() -> byLock.remove(lock, ending));
  }
}
