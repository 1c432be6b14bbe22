package io.pawl.bench.rival;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.pawl.bench.BenchException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The least that a lock in order costs on Redis: a list of those who wait, a script that joins it
 * unless the lock is free, and one that hands the lock to the first and tells him by PUBLISH.
 * Scripts and messages share one connection a JVM, or messages have a second one, as Pawl's bells
 * have: the difference is what sharing would save. No lease, no token, no check of who releases:
 * the floor of a hand-off, not a lock to use.
 */
public final class LettuceRing implements Rival {

  public static final String NAME = "bare ring";
  public static final String APART = "bare ring, messages apart";

  private static final long PATIENCE_SECONDS = 30;
  private static final String JOIN =
      "if redis.call('setnx', KEYS[1], ARGV[1]) == 1 then return 1 end"
          + " redis.call('rpush', KEYS[2], ARGV[1]) return 0";
  private static final String HAND_ON =
      "local next = redis.call('lpop', KEYS[2])"
          + " if not next then return redis.call('del', KEYS[1]) end"
          + " redis.call('set', KEYS[1], next) return redis.call('publish', next, '')";

  private static final AtomicLong turns = new AtomicLong();

  private final boolean apart;

  /**
   * @param apart whether messages come over a connection of their own
   */
  public LettuceRing(boolean apart) {
    this.apart = apart;
  }

  @Override
  public String name() {
    return apart ? APART : NAME;
  }

  @Override
  public Client connect(String address) {
    RedisClient redis = RedisClient.create(address);
    StatefulRedisPubSubConnection<String, String> connection = redis.connectPubSub();
    StatefulRedisPubSubConnection<String, String> messages =
        apart ? redis.connectPubSub() : connection;
    RedisPubSubAsyncCommands<String, String> commands = connection.async();
    String join = answer(commands.scriptLoad(JOIN));
    String handOn = answer(commands.scriptLoad(HAND_ON));
    return new Client() {
      @Override
      public Turn lock(String name) {
        RingTurn turn = new RingTurn(commands, join, handOn, name);
        messages.addListener(turn);
        answer(messages.async().subscribe(turn.channel));
        return turn;
      }

      @Override
      public void close() {
        messages.close();
        connection.close();
        redis.shutdown();
      }
    };
  }

  private static <T> T answer(Future<T> command) {
    try {
      return command.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new BenchException("the ring's command failed", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  private static final class RingTurn extends RedisPubSubAdapter<String, String> implements Turn {

    private final RedisPubSubAsyncCommands<String, String> commands;
    private final String join;
    private final String handOn;
    private final String[] keys;
    private final String channel =
        "ring:" + ProcessHandle.current().pid() + ":" + turns.getAndIncrement();
    private final Thread thread = Thread.currentThread();
    private volatile boolean told;

    RingTurn(
        RedisPubSubAsyncCommands<String, String> commands,
        String join,
        String handOn,
        String lock) {
      this.commands = commands;
      this.join = join;
      this.handOn = handOn;
      this.keys = new String[] {lock, lock + ":line"};
    }

    @Override
    public void message(String to, String text) {
      if (to.equals(channel)) {
        told = true;
        LockSupport.unpark(thread);
      }
    }

    @Override
    public long acquire() {
      Long free = answer(commands.<Long>evalsha(join, ScriptOutputType.INTEGER, keys, channel));
      if (free == 0) {
        while (!told) {
          LockSupport.park(this);
        }
        told = false;
      }
      return 0;
    }

    @Override
    public void release() {
      answer(commands.<Long>evalsha(handOn, ScriptOutputType.INTEGER, keys));
    }
  }
}
