package io.pawl.bench.rival;

import io.pawl.bench.BenchException;
import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.jspecify.annotations.Nullable;

/** Curator's semaphore, whose leases are one session's. */
public final class CuratorSemaphores implements Rival {

  public static final String NAME = "Curator InterProcessSemaphoreV2";

  private final Duration session;

  /**
   * @param session time-out that the client asks for; the server bounds it
   */
  public CuratorSemaphores(Duration session) {
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
    CuratorFramework curator = CuratorLocks.connected(address, session);
    return new Client() {
      @Override
      public Turn lock(String name) {
        String node = CuratorLocks.node(address, name);
        return new PermitTurn(new InterProcessSemaphoreV2(curator, node, SharedRivals.PERMITS));
      }

      @Override
      public void close() {
        curator.close();
      }
    };
  }

  private static final class PermitTurn implements Turn {

    private final InterProcessSemaphoreV2 semaphore;
    private @Nullable Lease permit;

    PermitTurn(InterProcessSemaphoreV2 semaphore) {
      this.semaphore = semaphore;
    }

    @Override
    public long acquire() throws InterruptedException {
      try {
        permit = semaphore.acquire();
        return 0;
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        throw new BenchException("acquire failed", e);
      }
    }

    @Override
    public void release() {
      Lease taken = permit;
      if (taken != null) {
        semaphore.returnLease(taken);
      }
    }
  }
}
