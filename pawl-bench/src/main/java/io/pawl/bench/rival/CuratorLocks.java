package io.pawl.bench.rival;

import io.pawl.bench.BenchException;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's lock, whose claims are one session's; retries are those of its documentation. */
public final class CuratorLocks implements Rival {

  public static final String NAME = "Curator InterProcessMutex";

  /** Curator's own. */
  public static final Duration USUAL_SESSION = Duration.ofSeconds(60);

  private static final int FIRST_PAUSE_MILLIS = 1_000;
  private static final int REPETITIONS = 3;

  private final Duration session;

  /**
   * @param session time-out that the client asks for; the server bounds it
   */
  public CuratorLocks(Duration session) {
    this.session = session;
  }

  @Override
  public String name() {
    return NAME;
  }

  /**
   * @param address as Pawl has it: {@code zk://hosts/node}
   */
  @Override
  public Client connect(String address) {
    CuratorFramework curator = connected(address, session);
    return new Client() {
      @Override
      public Turn lock(String name) {
        return new MutexTurn(new InterProcessMutex(curator, node(address, name)));
      }

      @Override
      public void close() {
        curator.close();
      }
    };
  }

  /** A client of the servers in {@code address}. */
  public static CuratorFramework connected(String address, Duration session) {
    CuratorFramework curator =
        CuratorFrameworkFactory.builder()
            .connectString(Hosts.of(address))
            .sessionTimeoutMs(Math.toIntExact(session.toMillis()))
            .retryPolicy(new ExponentialBackoffRetry(FIRST_PAUSE_MILLIS, REPETITIONS))
            .build();
    curator.start();
    return curator;
  }

  /** The node of the lock of this name. */
  public static String node(String address, String name) {
    return "/" + Hosts.path(address) + "/" + name;
  }

  private record MutexTurn(InterProcessMutex mutex) implements Turn {

    @Override
    public long acquire() throws InterruptedException {
      try {
        mutex.acquire();
        return 0;
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        throw new BenchException("acquire failed", e);
      }
    }

    @Override
    public void release() {
      try {
        mutex.release();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new BenchException("interrupted", e);
      } catch (Exception e) {
        throw new BenchException("release failed", e);
      }
    }
  }
}
