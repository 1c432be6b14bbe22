package io.pawl.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.pawl.redis.Servers.Place;
import io.pawl.redis.Servers.Primary;
import java.net.SocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Listens to one Sentinel, and to the next when that is gone. A primary that was only paused serves
 * its open connections until the Sentinels demote it, and then forgets what it has said.
 *
 * <p>All that they say is told, since connections may have been led elsewhere meanwhile. What one
 * that lags behind says is not, where its config-epoch shows that.
 */
final class SentinelWatch implements Servers.Watch {

  private static final String CHANNEL = "+switch-master";
  private static final long PAUSE_NANOS = 1_000_000_000;
  private static final int MOST_DOUBLINGS = 5;
  private static final long LOOK_NANOS = 3_000_000_000L;
  private static final int MESSAGE_WORDS = 5;
  private static final long UNKNOWN = -1;

  private final RedisClient client;
  private final RedisURI uri;

  /** Which of the Sentinels of {@link #uri}. */
  private final AtomicInteger listenedTo;

  private final Wire wire;
  private final Consumer<Primary> named;
  private final AtomicReference<@Nullable StatefulRedisPubSubConnection<String, String>>
      connection = new AtomicReference<>();
  private volatile CompletionStage<?> dialling = CompletableFuture.completedFuture(null);
  private volatile boolean closed;

  /** How often in a row none was listened to. */
  private final AtomicInteger failures = new AtomicInteger();

  /** As it was told last; null until then. */
  private volatile @Nullable Primary primary;

  /** Those that lagged behind since one did not. */
  private final Set<Integer> lagging = ConcurrentHashMap.newKeySet();

  /** Of what was told, at least; it grows whenever a replica takes over. */
  private volatile long epoch;

  SentinelWatch(
      RedisClient client,
      RedisURI uri,
      AtomicInteger listenedTo,
      Wire wire,
      Consumer<Primary> named) {
    this.client = client;
    this.uri = uri;
    this.listenedTo = listenedTo;
    this.wire = wire;
    this.named = named;
  }

  void dial() {
    CompletableFuture<Object> begun = new CompletableFuture<>();
    dialling = begun; // before the look at closed: whoever closes waits for it
    if (closed) {
      begun.complete(null);
      return;
    }
    try {
      wire.aside(() -> dial(begun));
    } catch (RuntimeException | Error e) { // of threads, where none can be started
      begun.complete(null);
      next();
    }
  }

  private void dial(CompletableFuture<Object> begun) {
    List<RedisURI> sentinels = uri.getSentinels();
    try {
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
                begun.complete(null);
              });
    } catch (RuntimeException | Error e) { // of threads, where none can be started
      begun.complete(null);
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
                && words[0].equals(uri.getSentinelMasterId())
                && connection.get() == opened) {
              hasBecome(address(words[3], words[4]));
            }
          }
        });
    RedisPubSubAsyncCommands<String, String> commands = opened.async();
    opened.setAutoFlushCommands(false); // nothing may come between the two
    CompletionStage<Long> itsEpoch =
        ask(commands, "MASTER").handle((fields, error) -> fields == null ? UNKNOWN : epoch(fields));
    ask(commands, "GET-MASTER-ADDR-BY-NAME")
        .thenCombine(
            itsEpoch,
            (address, known) -> {
              if (connection.get() == opened) {
                isNow(opened, address(text(address.get(0)), text(address.get(1))), known);
              }
              return address;
            })
        .exceptionally(
            error -> {
              leave(opened); // it does not know this primary
              return List.of();
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

  private CompletionStage<List<Object>> ask(
      RedisPubSubAsyncCommands<String, String> commands, String what) {
    return commands.dispatch(
        CommandType.SENTINEL,
        new FlatOutput(),
        new CommandArgs<>(StringCodec.UTF8).add(what).add(uri.getSentinelMasterId()));
  }

  private static String text(Object part) {
    return String.valueOf(part);
  }

  private static long epoch(List<Object> fields) {
    int name = fields.indexOf("config-epoch");
    return name < 0 ? UNKNOWN : Long.parseLong(text(fields.get(name + 1)));
  }

  /** As Lettuce dials it. */
  private SocketAddress address(String host, String port) {
    return client
        .getResources()
        .socketAddressResolver()
        .resolve(RedisURI.create(host, Integer.parseInt(port)));
  }

  /**
   * It may have changed while nobody was listened to. A Sentinel that lags behind is left, since
   * dials begin with the one that is listened to; where all say the same, epochs began anew.
   */
  private void isNow(
      StatefulRedisPubSubConnection<String, String> opened, SocketAddress address, long itsEpoch) {
    Primary before = primary;
    boolean isSame = before != null && Place.isSame(before.address(), address);
    boolean lags = before != null && !isSame && itsEpoch != UNKNOWN && itsEpoch < epoch;
    if (lags) {
      lagging.add(listenedTo.get());
      if (lagging.size() < uri.getSentinels().size()) {
        leave(opened);
        return;
      }
    }
    lagging.clear();
    epoch = lags ? itsEpoch : Math.max(epoch, itsEpoch);
    tell(before != null && isSame ? before : following(before, address));
  }

  /** A message does not say its epoch. */
  private void hasBecome(SocketAddress address) {
    lagging.clear();
    Primary before = primary;
    if (before == null || !Place.isSame(before.address(), address)) {
      epoch++;
    }
    tell(following(before, address));
  }

  private static Primary following(@Nullable Primary before, SocketAddress address) {
    return new Primary(address, before == null ? 0 : before.number() + 1);
  }

  private void tell(Primary now) {
    primary = now;
    named.accept(now);
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
