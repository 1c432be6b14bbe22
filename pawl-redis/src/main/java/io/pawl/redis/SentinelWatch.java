package io.pawl.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Listens to one Sentinel, and to the next when that is gone. A primary that was only paused serves
 * its open connections until the Sentinels demote it, and then forgets what it has said.
 */
final class SentinelWatch implements Servers.Watch {

  private static final String CHANNEL = "+switch-master";
  private static final long PAUSE_NANOS = 1_000_000_000;
  private static final int MOST_DOUBLINGS = 5;
  private static final long LOOK_NANOS = 3_000_000_000L;
  private static final int MESSAGE_WORDS = 5;

  private final RedisClient client;
  private final RedisURI uri;

  /** Which of the Sentinels of {@link #uri}. */
  private final AtomicInteger listenedTo;

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

  SentinelWatch(
      RedisClient client, RedisURI uri, AtomicInteger listenedTo, Wire wire, Runnable switched) {
    this.client = client;
    this.uri = uri;
    this.listenedTo = listenedTo;
    this.wire = wire;
    this.switched = switched;
  }

  void dial() {
    if (closed) {
      return;
    }
    List<RedisURI> sentinels = uri.getSentinels();
    try {
      dialling =
          client
              .connectPubSubAsync(StringCodec.UTF8, sentinels.get(listenedTo.get()))
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
            if (words.length == MESSAGE_WORDS && words[0].equals(uri.getSentinelMasterId())) {
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
                .add(uri.getSentinelMasterId()))
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
    listenedTo.updateAndGet(before -> (before + 1) % uri.getSentinels().size());
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
