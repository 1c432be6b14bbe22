package io.pawl.redis;

import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisSentinels;
import io.pawl.servers.RedisServer;
import java.util.List;
import java.util.stream.Collectors;

/** URLs of groups of servers. */
final class Urls {

  private Urls() {}

  static String of(RedisCluster cluster) {
    return "redis-cluster://" + hosts(cluster.nodes());
  }

  static String of(RedisSentinels sentinels) {
    return "redis-sentinel://" + hosts(sentinels.sentinels()) + "?master=" + RedisSentinels.NAME;
  }

  private static String hosts(List<RedisServer> servers) {
    return servers.stream()
        .map(server -> server.host() + ":" + server.port())
        .collect(Collectors.joining(","));
  }
}
