package io.pawl.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

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
  public int askedInTurn() {
    return Math.max(1, uri.getSentinels().size());
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
  public Watch watch(Wire wire, Consumer<Primary> named) {
    if (!areFound()) {
      return () -> {};
    }
    SentinelWatch watch = new SentinelWatch(client, uri, listenedTo, wire, named);
    watch.dial();
    return watch;
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
