package io.pawl.fence;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** See {@link Fence#inMemory}. */
final class MemoryFence implements Fence {

  /** The largest token of one resource, guarded by its mutex. */
  private static final class Seen {
    private final ReentrantLock mutex = new ReentrantLock();
    private long token;
  }

  private final int most;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, Seen> resources = new HashMap<>();

  MemoryFence(int most) {
    if (most < 1) {
      throw new IllegalArgumentException("resources of a fence: " + most + " is not at least 1");
    }
    this.most = most;
  }

  @Override
  public <X extends Exception> void write(String resource, long token, Write<X> write) throws X {
    Fences.check(resource, token);
    Seen seen = find(resource);
    Fences.lock(seen.mutex, resource);
    try {
      if (token < seen.token) {
        throw Fences.stale(resource, token, seen.token);
      }
      seen.token = token;
      write.run();
    } finally {
      seen.mutex.unlock();
    }
  }

  private Seen find(String resource) {
    mutex.lock();
    try {
      Seen known = resources.get(resource);
      if (known != null) {
        return known;
      }
      if (resources.size() >= most) {
        throw new IllegalStateException(
            "fence for '"
                + resource
                + "': it remembers "
                + most
                + " others already; make it wider");
      }
      Seen fresh = new Seen();
      resources.put(resource, fresh);
      return fresh;
    } finally {
      mutex.unlock();
    }
  }
}
