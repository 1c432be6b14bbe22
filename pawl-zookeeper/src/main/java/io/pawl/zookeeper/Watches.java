package io.pawl.zookeeper;

import io.pawl.zookeeper.Requests.Node;
import io.pawl.zookeeper.Requests.OnChange;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Who is to be told, once, when a node of a session changes, and what was read of it when it came
 * to be watched. Thread-safe; its mutex is taken last.
 */
final class Watches {

  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, Watched> byPath = new HashMap<>();

  void add(String path, OnChange onChange) {
    mutex.lock();
    try {
      byPath.computeIfAbsent(path, name -> new Watched()).told.add(onChange);
    } finally {
      mutex.unlock();
    }
  }

  /** What was read when it came to be watched: {@code mine} if it is to be read now. */
  CompletableFuture<@Nullable Node> share(
      String path, OnChange onChange, CompletableFuture<@Nullable Node> mine) {
    mutex.lock();
    try {
      Watched watched = byPath.computeIfAbsent(path, name -> new Watched());
      watched.told.add(onChange);
      CompletableFuture<@Nullable Node> known = watched.read;
      if (known == null || known.isCompletedExceptionally()) {
        known = mine;
        watched.read = mine;
      }
      return known;
    } finally {
      mutex.unlock();
    }
  }

  /** Nobody is to be told any more. The server's own note of it goes with the node. */
  void remove(String path, OnChange onChange) {
    mutex.lock();
    try {
      Watched watched = byPath.get(path);
      if (watched != null && watched.told.remove(onChange) && watched.told.isEmpty()) {
        byPath.remove(path);
      }
    } finally {
      mutex.unlock();
    }
  }

  void tell(@Nullable String path, boolean deleted) {
    Watched watched;
    mutex.lock();
    try {
      watched = byPath.remove(path);
    } finally {
      mutex.unlock();
    }
    if (watched != null) {
      watched.told.forEach(each -> each.changed(deleted));
    }
  }

  /** A node until its next change. Guarded by the mutex. */
  private static final class Watched {
    private final Set<OnChange> told = new LinkedHashSet<>();
    private @Nullable CompletableFuture<@Nullable Node> read;
  }
}
