package io.pawl.redis;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A Cluster: each lock on the primary that serves its slot. */
record ManyServers(
    RedisClusterClient client, boolean owned, List<String> addresses, String describe)
    implements Servers {

  @Override
  public CompletionStage<? extends StatefulConnection<String, String>> dial() {
    return client
        .refreshPartitionsAsync()
        .thenCompose(refreshed -> client.connectAsync(StringCodec.UTF8));
  }

  /** All of the URL, then all others that those tell of, then one of them. */
  @Override
  public int askedInTurn() {
    return 3;
  }

  @Override
  public CompletionStage<? extends StatefulRedisPubSubConnection<String, String>> dialBells() {
    return client.connectPubSubAsync(StringCodec.UTF8);
  }

  @Override
  public int group(String key) {
    return SlotHash.getSlot(key);
  }

  @Override
  public int server(StatefulConnection<String, String> connection, String key) {
    RedisClusterNode node =
        asCluster(connection).getPartitions().getPartitionBySlot(SlotHash.getSlot(key));
    return node == null ? 0 : node.getNodeId().hashCode();
  }

  @Override
  public CompletionStage<StatefulRedisConnection<String, String>> nodeOf(
      StatefulConnection<String, String> connection, String key) {
    StatefulRedisClusterConnection<String, String> cluster = asCluster(connection);
    RedisClusterNode node = cluster.getPartitions().getPartitionBySlot(SlotHash.getSlot(key));
    return node == null
        ? CompletableFuture.failedFuture(new IllegalStateException("no node serves its slot"))
        : cluster.getConnectionAsync(node.getNodeId());
  }

  @Override
  public Map<String, CompletionStage<StatefulRedisConnection<String, String>>> primaries(
      StatefulConnection<String, String> connection) {
    StatefulRedisClusterConnection<String, String> cluster = asCluster(connection);
    Map<String, CompletionStage<StatefulRedisConnection<String, String>>> found =
        new LinkedHashMap<>();
    for (RedisClusterNode node : cluster.getPartitions()) {
      if (!node.getSlots().isEmpty()) {
        String address = node.getUri().getHost() + ":" + node.getUri().getPort();
        found.put(address, cluster.getConnectionAsync(node.getNodeId()));
      }
    }
    return found;
  }

  private static StatefulRedisClusterConnection<String, String> asCluster(
      StatefulConnection<String, String> connection) {
    return (StatefulRedisClusterConnection<String, String>) connection;
  }

  @Override
  public String mode() {
    return "cluster";
  }

  @Override
  public void close() {
    if (owned) {
      Shutdown.of(client);
    }
  }
}
