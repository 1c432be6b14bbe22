package io.pawl.bench.quorum;

import io.pawl.bench.contest.ContestSuite.Ground;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisServer;
import io.pawl.spi.QuorumNode.Quorum;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Five Redis, and a way to the first of them that takes half a second. The address has the URLs of
 * all six, with a bar between them.
 */
final class QuorumGround implements Ground {

  private static final int NODES = 5;
  private static final Duration LATE = Duration.ofMillis(500);
  private static final String NOBODY = "redis://127.0.0.1:1";

  private static final Pattern CALLS =
      Pattern.compile("cmdstat_evalsha:calls=(\\d+).*failed_calls=(\\d+)");

  private final List<RedisServer> servers = new ArrayList<>();
  private final FaultProxy slow;

  QuorumGround() {
    for (int i = 0; i < NODES; i++) {
      servers.add(RedisServer.start());
    }
    slow = FaultProxy.before(servers.get(0));
    slow.delay(Direction.TO_CLIENT, LATE);
  }

  @Override
  public String fresh() {
    servers.forEach(server -> server.call("FLUSHALL"));
    List<String> urls = new ArrayList<>(servers.stream().map(RedisServer::url).toList());
    urls.add("redis://" + slow.host() + ":" + slow.port());
    String address = String.join("|", urls);
    try (Quorum quorum = (Quorum) Stores.open(StoreUrl.parse(whole(address)))) {
      quorum.initialize();
    }
    return address;
  }

  static List<String> nodes(String address) {
    return List.of(address.split("\\|")).subList(0, NODES);
  }

  static String one(String address) {
    return nodes(address).get(0);
  }

  static String whole(String address) {
    return "quorum:" + String.join("|", nodes(address));
  }

  /** Nobody listens where the first node should be. */
  static String withOneDead(String address) {
    return whole(address).replaceFirst("redis:[^|]+", NOBODY);
  }

  static String withOneSlow(String address) {
    return whole(address).replaceFirst("redis:[^|]+", address.split("\\|")[NODES]);
  }

  /** Scripts called at all nodes. */
  @Override
  public OptionalLong operations() {
    long sum = 0;
    for (RedisServer server : servers) {
      Matcher calls = CALLS.matcher(server.text("INFO", "commandstats"));
      while (calls.find()) {
        sum += Long.parseLong(calls.group(1)) - Long.parseLong(calls.group(2));
      }
    }
    return OptionalLong.of(sum);
  }

  @Override
  public void close() {
    slow.close();
    servers.forEach(RedisServer::close);
  }
}
