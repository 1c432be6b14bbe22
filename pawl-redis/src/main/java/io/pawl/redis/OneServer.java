package io.pawl.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** One primary, named or found by Sentinels anew at each connect. */
record OneServer(
    RedisClient client, RedisURI uri, boolean owned, List<String> addresses, String describe)
    implements Servers {

  @Override
  public CompletionStage<? extends StatefulConnection<String, String>> dial() {
    return client.connectAsync(StringCodec.UTF8, uri);
  }

  @Override
  public CompletionStage<? extends StatefulRedisPubSubConnection<String, String>> dialBells() {
    return client.connectPubSubAsync(StringCodec.UTF8, uri);
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
    return uri.getHost() == null;
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

    private final OneServer servers;
    private final Wire wire;
    private final Runnable switched;
    private final AtomicReference<@Nullable StatefulRedisPubSubConnection<String, String>>
        connection = new AtomicReference<>();
    private volatile CompletionStage<?> dialling = CompletableFuture.completedFuture(null);
    private volatile boolean hasListened;
    private volatile boolean closed;

    /** Which of them; how often in a row none was listened to. */
    private final AtomicInteger sentinel = new AtomicInteger();

    private final AtomicInteger failures = new AtomicInteger();

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
                .connectPubSubAsync(StringCodec.UTF8, sentinels.get(sentinel.get()))
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
            public void subscribed(String channel, long count) {
              failures.set(0);
              if (hasListened) {
                switched.run(); // perhaps, while nobody was listened to
              }
              hasListened = true;
            }

            @Override
            public void message(String channel, String text) {
              if (text.startsWith(servers.uri.getSentinelMasterId() + " ")) {
                switched.run();
              }
            }
          });
      opened
          .async()
          .subscribe(CHANNEL)
          .whenComplete(
              (nothing, error) -> {
                if (error != null) {
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
      sentinel.updateAndGet(before -> (before + 1) % servers.uri.getSentinels().size());
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
