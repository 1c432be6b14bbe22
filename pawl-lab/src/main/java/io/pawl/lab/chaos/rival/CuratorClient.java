package io.pawl.lab.chaos.rival;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.BoundedExponentialBackoffRetry;

/**
 * Curator. A mutex itself learns of no loss: its holder has it while the connection was told
 * neither suspended nor lost since the grant, as its manual says. A release returns well also when
 * the node was gone, so that what the connection was told decides there too.
 */
final class CuratorClient implements RivalClient {

  private static final String SCHEME = "zk://";
  private static final int FIRST_RETRY_MILLIS = 50;
  private static final int LONGEST_RETRY_MILLIS = 500;
  private static final int RETRIES = 10;

  private final CuratorFramework client;
  private final AtomicInteger suspicions = new AtomicInteger();
  private final AtomicInteger losses = new AtomicInteger();
  private volatile boolean isConnected;

  /**
   * @param leaseMillis of the session, which the ensemble makes longer by what it allows
   */
  CuratorClient(String address, long leaseMillis) {
    this.client =
        CuratorFrameworkFactory.builder()
            .connectString(address.substring(SCHEME.length()))
            .sessionTimeoutMs((int) leaseMillis)
            .connectionTimeoutMs((int) leaseMillis)
            .retryPolicy(
                new BoundedExponentialBackoffRetry(
                    FIRST_RETRY_MILLIS, LONGEST_RETRY_MILLIS, RETRIES))
            .build();
    client.getConnectionStateListenable().addListener((its, state) -> hear(state));
    client.start();
  }

  private void hear(ConnectionState state) {
    isConnected = state.isConnected();
    if (!isConnected) {
      suspicions.incrementAndGet();
    }
    if (state == ConnectionState.LOST) {
      losses.incrementAndGet();
    }
  }

  @Override
  public RivalLock lock(String name) {
    return new Mutex(new InterProcessMutex(client, "/" + name));
  }

  @Override
  public void close() {
    client.close();
  }

  private final class Mutex implements RivalLock {

    private final InterProcessMutex mutex;
    private int suspicionsBefore;
    private int lossesBefore;

    Mutex(InterProcessMutex mutex) {
      this.mutex = mutex;
    }

    @Override
    public boolean acquire() throws InterruptedException {
      try {
        mutex.acquire();
      } catch (RuntimeException | InterruptedException e) {
        throw e;
      } catch (Exception e) {
        return false; // a KeeperException, or an IOException
      }
      return granted();
    }

    @Override
    public boolean tryFor(long millis) throws InterruptedException {
      try {
        return mutex.acquire(millis, TimeUnit.MILLISECONDS) && granted();
      } catch (RuntimeException | InterruptedException e) {
        throw e;
      } catch (Exception e) {
        return false; // a KeeperException
      }
    }

    private boolean granted() {
      suspicionsBefore = suspicions.get();
      lossesBefore = losses.get();
      return true;
    }

    @Override
    public boolean isHeld() {
      return mutex.isAcquiredInThisProcess() && isConnected && suspicions.get() == suspicionsBefore;
    }

    @Override
    public End release() {
      boolean isConfirmed = true;
      try {
        mutex.release();
      } catch (IllegalMonitorStateException e) {
        return End.LOST;
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        isConfirmed = false; // a KeeperException; it goes on in the background
      }
      if (losses.get() != lossesBefore) {
        return End.LOST;
      }
      boolean isTrusted = isConfirmed && suspicions.get() == suspicionsBefore;
      return isTrusted ? End.RELEASED : End.UNCONFIRMED;
    }
  }
}
