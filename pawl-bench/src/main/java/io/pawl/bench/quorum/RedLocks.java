package io.pawl.bench.quorum;

import io.pawl.bench.rival.RedissonLocks;
import io.pawl.bench.rival.Rival;
import java.util.List;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Redisson's lock over all nodes, with its defaults. It has no token. */
@SuppressWarnings("deprecation") // it is what there is
final class RedLocks implements Rival {

  static final String NAME = "Redisson RedLock";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Client connect(String address) {
    List<RedissonClient> nodes =
        QuorumGround.nodes(address).stream().map(RedissonLocks::connected).toList();
    return new Client() {
      @Override
      public Turn lock(String name) {
        RLock[] locks = nodes.stream().map(node -> node.getLock(name)).toArray(RLock[]::new);
        return new RedLockTurn(new RedissonRedLock(locks));
      }

      @Override
      public void close() {
        nodes.forEach(RedissonClient::shutdown);
      }
    };
  }

  private record RedLockTurn(RLock lock) implements Rival.Turn {

    @Override
    public long acquire() throws InterruptedException {
      lock.lockInterruptibly();
      return 0;
    }

    @Override
    public void release() {
      lock.unlock();
    }
  }
}
