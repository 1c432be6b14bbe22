package io.pawl.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One primary, named or found by Sentinels anew at each connect. */
final class OneServer implements Servers {

  private final RedisClient client;
  private final RedisURI uri;
  private final boolean owned;
  private final List<String> addresses;
  private final String description;

  /** Which of the Sentinels. */
  private final AtomicInteger listenedTo = new AtomicInteger();

  OneServer(
      RedisClient client, RedisURI uri, boolean owned, List<String> addresses, String describe) {
    this.client = client;
    this.uri = uri;
    this.owned = owned;
    this.addresses = addresses;
    this.description = describe;
  }

  @Override
  public List<String> addresses() {
    return addresses;
  }

  @Override
  public String describe() {
    return description;
  }

  /** Whichever Sentinel is listened to is asked first: others may not know yet what it told. */
  private RedisURI latest() {
    int first = listenedTo.get();
    return first == 0 ? uri : new Rotated(uri, first);
  }

  /** The same with another order of the Sentinels. */
  private static final class Rotated extends RedisURI {

    private static final long serialVersionUID = 1;

    Rotated(RedisURI uri, int first) {
      super(uri);
      Collections.rotate(getSentinels(), -first);
    }
  }

  @Override
  public CompletionStage<? extends StatefulConnection<String, String>> dial() {
    return client.connectAsync(StringCodec.UTF8, latest());
  }

  @Override
  public CompletionStage<? extends StatefulRedisPubSubConnection<String, String>> dialBells() {
    return client.connectPubSubAsync(StringCodec.UTF8, latest());
  }

  @Override
  public int group(String key) {
    return 0;
  }

  @Override
  public int server(StatefulConnection<String, String> connection, String key) {
    return 0;
  }

  @Override
  public CompletionStage<StatefulRedisConnection<String, String>> nodeOf(
      StatefulConnection<String, String> connection, String key) {
    return CompletableFuture.completedFuture((StatefulRedisConnection<String, String>) connection);
  }

  @Override
  public Map<String, CompletionStage<StatefulRedisConnection<String, String>>> primaries(
      StatefulConnection<String, String> connection) {
    return Map.of(
        String.join(",", addresses),
        CompletableFuture.completedFuture((StatefulRedisConnection<String, String>) connection));
  }

  @Override
  public boolean areFound() {
    return !uri.getSentinels().isEmpty();
  }

  @Override
  public Watch watch(Wire wire, Runnable switched) {
    if (!areFound()) {
      return () -> {};
    }
    SentinelWatch watch = new SentinelWatch(this, wire, switched);
    watch.dial();
    return watch;
  }

  /**
   * Listens to one Sentinel, and to the next when that is gone. A primary that was only paused
   * serves its open connections until the Sentinels demote it, and then forgets what it has said.
   */
  private static final class SentinelWatch implements Watch {

    private static final String CHANNEL = "+switch-master";
    private static final long PAUSE_NANOS = 1_000_000_000;
    private static final int MOST_DOUBLINGS = 5;
    private static final long LOOK_NANOS = 3_000_000_000L;
    private static final int MESSAGE_WORDS = 5;

    private final OneServer servers;
    private final Wire wire;
    private final Runnable switched;
    private final AtomicReference<@Nullable StatefulRedisPubSubConnection<String, String>>
        connection = new AtomicReference<>();
    private volatile CompletionStage<?> dialling = CompletableFuture.completedFuture(null);
    private volatile boolean closed;

    /** How often in a row none was listened to. */
    private final AtomicInteger failures = new AtomicInteger();

    /** As it was told last; null until then. */
    private volatile @Nullable String primary;

    SentinelWatch(OneServer servers, Wire wire, Runnable switched) {
      this.servers = servers;
      this.wire = wire;
      this.switched = switched;
    }

    void dial() {
      if (closed) {
        return;
      }
      List<RedisURI> sentinels = servers.uri.getSentinels();
      try {
        dialling =
            servers
                .client
                .connectPubSubAsync(StringCodec.UTF8, sentinels.get(servers.listenedTo.get()))
                .whenComplete(
                    (opened, error) -> {
                      if (opened == null) {
                        next();
                      } else {
                        connection.set(opened);
                        if (closed) { // nobody may be waiting to close it any more
                          opened.closeAsync();
                        } else {
                          listen(opened);
                        }
                      }
                    });
      } catch (RuntimeException | Error e) { // of threads, where none can be started
        next();
      }
    }

    private void listen(StatefulRedisPubSubConnection<String, String> opened) {
      opened.addListener(
          new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
              leave(opened);
            }
          });
      opened.addListener(
          new RedisPubSubAdapter<String, String>() {
            @Override
            public void message(String channel, String text) {
              String[] words = text.split(" ");
              if (words.length == MESSAGE_WORDS
                  && words[0].equals(servers.uri.getSentinelMasterId())) {
                primary = words[3] + ":" + words[4];
                switched.run();
              }
            }
          });
      RedisPubSubAsyncCommands<String, String> commands = opened.async();
      opened.setAutoFlushCommands(false); // nothing may come between the two
      commands
          .dispatch(
              CommandType.SENTINEL,
              new ArrayOutput<>(StringCodec.UTF8),
              new CommandArgs<>(StringCodec.UTF8)
                  .add("GET-MASTER-ADDR-BY-NAME")
                  .add(servers.uri.getSentinelMasterId()))
          .whenComplete(
              (address, error) -> {
                if (error == null && address.size() == 2) {
                  isNow(address.get(0) + ":" + address.get(1));
                } else {
                  leave(opened); // it does not know this primary
                }
              });
      commands
          .subscribe(CHANNEL)
          .whenComplete(
              (nothing, error) -> {
                if (error != null) {
                  leave(opened);
                } else if (connection.get() == opened) {
                  failures.set(0);
                }
              });
      opened.flushCommands();
      opened.setAutoFlushCommands(true);
      look(opened, commands);
    }

    /** It may have changed while nobody was listened to. */
    private void isNow(String address) {
      String before = primary;
      primary = address;
      if (before == null ? failures.get() > 0 : !before.equals(address)) {
        switched.run();
      }
    }

    /** One that does not answer says nothing of another primary either. */
    private void look(
        StatefulRedisPubSubConnection<String, String> opened,
        RedisPubSubAsyncCommands<String, String> commands) {
      if (closed || connection.get() != opened) {
        return;
      }
      CompletableFuture<Boolean> alive =
          commands
              .ping()
              .handle(
                  (pong, error) -> error == null || error instanceof RedisCommandExecutionException)
              .toCompletableFuture();
      wire.after(
          LOOK_NANOS,
          () -> {
            if (alive.getNow(false)) {
              look(opened, commands);
            } else {
              leave(opened);
            }
          });
    }

    private void leave(StatefulRedisPubSubConnection<String, String> left) {
      if (!closed && connection.compareAndSet(left, null)) {
        left.closeAsync();
        next();
      }
    }

    private void next() {
      servers.listenedTo.updateAndGet(before -> (before + 1) % servers.uri.getSentinels().size());
      long pause =
          PAUSE_NANOS << failures.getAndUpdate(before -> Math.min(before + 1, MOST_DOUBLINGS));
      if (!closed) {
        wire.after(pause, this::dial);
      }
    }

    @Override
    public void close() {
      closed = true;
      Shutdown.await(dialling);
      StatefulRedisPubSubConnection<String, String> open = connection.get();
      if (open != null) {
        Shutdown.of(open);
      }
    }
  }

  @Override
  public String mode() {
    return "standalone";
  }

  @Override
  public void close() {
    if (owned) {
      Shutdown.of(client);
    }
  }
}
