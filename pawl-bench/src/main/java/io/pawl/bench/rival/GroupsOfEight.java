package io.pawl.bench.rival;

import io.pawl.GroupLease;
import io.pawl.LockGroup;
import io.pawl.Pawl;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Eight locks taken together: each name stands for eight. */
public final class GroupsOfEight {

  private GroupsOfEight() {}

  private static Stream<String> names(String name) {
    return IntStream.range(0, 8).mapToObj(i -> name + "/" + i);
  }

  /** {@code lockAll}. */
  public record PawlGroups() implements Rival {

    public static final String NAME = "Pawl lockAll";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public Client connect(String address) {
      Pawl pawl = Pawl.connect(address);
      return new Client() {
        @Override
        public Turn lock(String name) {
          return new GroupTurn(pawl.lockAll(names(name).toList()));
        }

        @Override
        public void close() {
          pawl.close();
        }
      };
    }
  }

  private static final class GroupTurn implements Rival.Turn {

    private final LockGroup group;
    private final String first;
    private @Nullable GroupLease lease;

    GroupTurn(LockGroup group) {
      this.group = group;
      this.first = group.names().get(0);
    }

    @Override
    public long acquire() throws InterruptedException {
      GroupLease taken = group.acquire();
      lease = taken;
      return taken.token(first);
    }

    @Override
    public void release() {
      GroupLease taken = lease;
      if (taken != null) {
        taken.close();
      }
    }
  }

  /** Redisson's multi-lock of plain locks, with its defaults. */
  public record RedissonGroups() implements Rival {

    public static final String NAME = "Redisson multi-lock";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public Client connect(String address) {
      RedissonClient redisson = RedissonLocks.connected(address);
      return new Client() {
        @Override
        public Turn lock(String name) {
          List<RLock> locks = names(name).map(redisson::getLock).toList();
          return RedissonLocks.turn(redisson.getMultiLock(locks.toArray(RLock[]::new)));
        }

        @Override
        public void close() {
          redisson.shutdown();
        }
      };
    }
  }
}
