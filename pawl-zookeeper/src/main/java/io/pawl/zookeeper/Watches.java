package io.pawl.zookeeper;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Who is to be told, once, when a node of a session changes. Thread-safe; its mutex is taken last.
 */
final class Watches {

  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, Set<Runnable>> watchers = new HashMap<>();

  void add(String path, Runnable onChange) {
    mutex.lock();
    try {
      watchers.computeIfAbsent(path, name -> new LinkedHashSet<>()).add(onChange);
    } finally {
      mutex.unlock();
    }
  }

  /** Nobody is to be told any more. The server's own note of it goes with the node. */
  void remove(String path, Runnable onChange) {
    mutex.lock();
    try {
      Set<Runnable> told = watchers.get(path);
      if (told != null && told.remove(onChange) && told.isEmpty()) {
        watchers.remove(path);
      }
    } finally {
      mutex.unlock();
    }
  }

  void tell(@Nullable String path) {
    Set<Runnable> told;
    mutex.lock();
    try {
      told = watchers.remove(path);
    } finally {
      mutex.unlock();
    }
    if (told != null) {
      told.forEach(Runnable::run);
    }
  }
}
