package io.pawl.zookeeper;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this client that are on their way out, by lock. What is asked under one session the
 * service does in its order; what is asked under another waits here. Thread-safe.
 */
final class Endings {

  /**
   * @param session under which they end; null where there are several
   * @param all completes when all of them have ended, or have failed to
   */
  private record Ending(@Nullable Session session, CompletableFuture<Void> all) {}

  private final Map<String, Ending> byLock = new ConcurrentHashMap<>();

  /** Such a claim is sent away. */
  void begins(String lock, Session session, CompletableFuture<Void> end) {
    Ending ending =
        byLock.merge(
            lock,
            new Ending(session, end.handle((nothing, error) -> null)),
            (before, last) ->
                before.all.isDone()
                    ? last
                    : new Ending(
                        before.session == last.session ? last.session : null,
                        CompletableFuture.allOf(before.all, last.all)));
    ending.all.thenRun(() -> byLock.remove(lock, ending));
  }

  /** Runs {@code send} behind those which end under another session. */
  void behind(String lock, Session session, Runnable send) {
    Ending ending = byLock.get(lock);
    if (ending == null || ending.session == session) {
      send.run();
    } else {
      ending.all.thenRun(send);
    }
  }
}
