package io.pawl.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

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
