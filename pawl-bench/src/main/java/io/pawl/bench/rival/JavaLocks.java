package io.pawl.bench.rival;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/** {@link ReentrantLock}: what threads of one process can reach at best. */
public final class JavaLocks implements Rival {

  public static final String FAIR = "ReentrantLock, fair";
  public static final String UNFAIR = "ReentrantLock";

  private final boolean fair;

  public JavaLocks(boolean fair) {
    this.fair = fair;
  }

  @Override
  public String name() {
    return fair ? FAIR : UNFAIR;
  }

  @Override
  public Client connect(String address) {
    ConcurrentHashMap<String, ReentrantLock> locks = new ConcurrentHashMap<>();
    return name -> {
      ReentrantLock lock = locks.computeIfAbsent(name, n -> new ReentrantLock(fair));
      return new Turn() {
        @Override
        public long acquire() {
          lock.lock();
          return 0;
        }

        @Override
        public void release() {
          lock.unlock();
        }
      };
    };
  }
}
