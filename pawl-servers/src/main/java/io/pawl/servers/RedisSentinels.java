package io.pawl.servers;

import io.pawl.servers.RedisServer.Flavour;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A primary, a replica and three sentinels, two of which must agree before they promote it. */
public final class RedisSentinels implements AutoCloseable {
  /** The name by which the sentinels know the primary. */
  public static final String NAME = "pawl";

  private static final int SENTINELS = 3;
  private static final String QUORUM = "2";

  private final RedisServer primary;
  private final RedisServer replica;
  private final List<RedisServer> sentinels;
  private final List<FaultProxy> proxies;

  private RedisSentinels(
      RedisServer primary,
      RedisServer replica,
      List<RedisServer> sentinels,
      List<FaultProxy> proxies) {
    this.primary = primary;
    this.replica = replica;
    this.sentinels = List.copyOf(sentinels);
    this.proxies = List.copyOf(proxies);
  }

  /**
   * Starts sentinels that take a primary for dead once it has been silent for {@code downAfter}.
   */
  public static RedisSentinels start(Flavour flavour, Duration downAfter) {
    List<RedisServer> started = new ArrayList<>();
    try {
      RedisServer primary = RedisServer.setup().flavour(flavour).start();
      started.add(primary);
      RedisServer replica = RedisServer.setup().flavour(flavour).replicaOf(primary).start();
      started.add(replica);
      for (int i = 0; i < SENTINELS; i++) {
        started.add(sentinel(flavour, primary.host(), primary.port(), downAfter));
      }
      RedisSentinels group =
          new RedisSentinels(primary, replica, started.subList(2, started.size()), List.of());
      Await.until(group::agree, () -> "the sentinels did not find each other and the replica");
      return group;
    } catch (RuntimeException e) {
      started.forEach(RedisServer::close);
      throw e;
    }
  }

  /**
   * Starts servers that keep what they acknowledge, each announced by the proxy before it, so that
   * replicas and sentinels come through the proxies too. A primary that comes back is made a
   * replica after a second instead of eight.
   */
  public static RedisSentinels startProxied(Duration downAfter) {
    List<RedisServer> started = new ArrayList<>();
    List<FaultProxy> proxies = new ArrayList<>();
    try {
      for (int i = 0; i < 2; i++) {
        RedisServer server = RedisServer.setup().persistent().start();
        started.add(server);
        proxies.add(server.announcedBy("replica-announce-port"));
      }
      FaultProxy first = proxies.get(0);
      RedisServer replica = started.get(1);
      replica.call("REPLICAOF", first.host(), Integer.toString(first.port()));
      replica.call("CONFIG", "REWRITE");
      for (int i = 0; i < SENTINELS; i++) {
        RedisServer sentinel = sentinel(Flavour.REDIS, first.host(), first.port(), downAfter);
        started.add(sentinel);
        sentinel.call("SENTINEL", "DEBUG", "publish-period", "250", "info-period", "500");
      }
      RedisSentinels group =
          new RedisSentinels(started.get(0), replica, started.subList(2, started.size()), proxies);
      group.awaitSettled();
      return group;
    } catch (RuntimeException e) {
      proxies.forEach(FaultProxy::close);
      started.forEach(RedisServer::close);
      throw e;
    }
  }

  private static RedisServer sentinel(Flavour flavour, String host, int port, Duration downAfter) {
    String millis = Long.toString(downAfter.toMillis());
    return RedisServer.setup()
        .flavour(flavour)
        .sentinel()
        .setting("sentinel", "monitor", NAME, host, Integer.toString(port), QUORUM)
        .setting("sentinel", "down-after-milliseconds", NAME, millis)
        .setting("sentinel", "failover-timeout", NAME, "5000")
        .start();
  }

  /** Returns the server that started as the primary, whatever it is now. */
  public RedisServer primary() {
    return primary;
  }

  /** Returns the server that started as the replica, whatever it is now. */
  public RedisServer replica() {
    return replica;
  }

  public List<RedisServer> sentinels() {
    return sentinels;
  }

  /** Returns the proxies of {@link #primary()} and {@link #replica()}; none without. */
  public List<FaultProxy> proxies() {
    return proxies;
  }

  /** Returns a number that grows whenever a replica takes over. */
  public long takeovers() {
    return Long.parseLong(field(sentinels.get(0), "config-epoch"));
  }

  /**
   * Returns once all sentinels find nothing wrong and name one of two proxied servers, of which the
   * other is the replica.
   */
  public void awaitSettled() {
    Await.until(this::haveSettled, () -> "the sentinels and their servers did not settle");
  }

  private boolean haveSettled() {
    for (RedisServer sentinel : sentinels) {
      if (!field(sentinel, "flags").equals("master")
          || !field(sentinel, "num-slaves").equals("1")
          || !field(sentinel, "num-other-sentinels").equals("" + (SENTINELS - 1))) {
        return false;
      }
    }
    Set<Integer> named = new HashSet<>(primaryPorts());
    int first = proxies.get(0).port();
    int second = proxies.get(1).port();
    return (named.equals(Set.of(first)) && replica.replicates(first) && primary.isPrimary())
        || (named.equals(Set.of(second)) && primary.replicates(second) && replica.isPrimary());
  }

  private static String field(RedisServer sentinel, String name) {
    List<?> state = sentinel.list("SENTINEL", "MASTER", NAME);
    return String.valueOf(state.get(state.indexOf(name) + 1));
  }

  /** Returns the port of the server that each sentinel takes for the primary. */
  public List<Integer> primaryPorts() {
    return sentinels.stream()
        .map(sentinel -> sentinel.list("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME))
        .map(address -> Integer.valueOf(String.valueOf(address.get(1))))
        .toList();
  }

  /** Returns once every sentinel names {@code server} as the primary and it takes writes. */
  public void awaitPrimary(RedisServer server) {
    Await.until(
        () ->
            primaryPorts().stream().allMatch(port -> port == server.port())
                && server.text("ROLE").startsWith("[master"),
        () -> "not every sentinel took " + server + " for the primary");
  }

  private boolean agree() {
    for (RedisServer sentinel : sentinels) {
      String state = sentinel.text("SENTINEL", "MASTER", NAME);
      if (!state.contains("num-slaves, 1,")
          || !state.contains("num-other-sentinels, " + (SENTINELS - 1) + ",")) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    proxies.forEach(FaultProxy::close);
    sentinels.forEach(RedisServer::close);
    replica.close();
    primary.close();
  }
}
