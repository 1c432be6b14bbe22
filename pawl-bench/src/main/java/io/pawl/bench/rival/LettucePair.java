package io.pawl.bench.rival;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.bench.BenchException;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * The least that a lock on Redis costs: SET NX PX, then a script that deletes the key if it is
 * still ours. One connection for all threads, as Lettuce advises. No renewal, no waiting but by
 * asking again, no token: a limit for the free lock, not a lock to use.
 */
public final class LettucePair implements Rival {

  public static final String NAME = "bare Lettuce";

  private static final long LEASE_MILLIS = 30_000;
  private static final long HELD_PAUSE_NANOS = 1_000_000;
  private static final String COMPARE_AND_DELETE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Client connect(String address) {
    RedisClient redis = RedisClient.create(address);
    StatefulRedisConnection<String, String> connection = redis.connect();
    RedisCommands<String, String> commands = connection.sync();
    String script = commands.scriptLoad(COMPARE_AND_DELETE);
    return new Client() {
      @Override
      public Turn lock(String name) {
        return new PairTurn(commands, script, name);
      }

      @Override
      public void close() {
        connection.close();
        redis.shutdown();
      }
    };
  }

  private static final class PairTurn implements Turn {

    private final RedisCommands<String, String> commands;
    private final String script;
    private final String[] keys;
    private final String owner = UUID.randomUUID().toString();

    PairTurn(RedisCommands<String, String> commands, String script, String lock) {
      this.commands = commands;
      this.script = script;
      this.keys = new String[] {lock};
    }

    @Override
    public long acquire() {
      while (commands.set(keys[0], owner, SetArgs.Builder.nx().px(LEASE_MILLIS)) == null) {
        LockSupport.parkNanos(HELD_PAUSE_NANOS);
      }
      return 0;
    }

    @Override
    public void release() {
      Long deleted = commands.evalsha(script, ScriptOutputType.INTEGER, keys, owner);
      if (deleted == null || deleted != 1) {
        throw new BenchException("the lock was not ours any more");
      }
    }
  }
}
