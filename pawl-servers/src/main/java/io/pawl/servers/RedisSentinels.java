package io.pawl.servers;

import io.pawl.servers.RedisServer.Flavour;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A primary, a replica and three sentinels, two of which must agree before they promote it. */
public final class RedisSentinels implements AutoCloseable {
  /** The name by which the sentinels know the primary. */
  public static final String NAME = "pawl";

  private static final int SENTINELS = 3;
  private static final String QUORUM = "2";

  private final RedisServer primary;
  private final RedisServer replica;
  private final List<RedisServer> sentinels;

  private RedisSentinels(RedisServer primary, RedisServer replica, List<RedisServer> sentinels) {
    this.primary = primary;
    this.replica = replica;
    this.sentinels = List.copyOf(sentinels);
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
        started.add(sentinel(flavour, primary, downAfter));
      }
      RedisSentinels group =
          new RedisSentinels(primary, replica, started.subList(2, started.size()));
      Await.until(group::agree, () -> "the sentinels did not find each other and the replica");
      return group;
    } catch (RuntimeException e) {
      started.forEach(RedisServer::close);
      throw e;
    }
  }

  private static RedisServer sentinel(Flavour flavour, RedisServer primary, Duration downAfter) {
    String millis = Long.toString(downAfter.toMillis());
    return RedisServer.setup()
        .flavour(flavour)
        .sentinel()
        .setting(
            "sentinel", "monitor", NAME, primary.host(), Integer.toString(primary.port()), QUORUM)
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
    sentinels.forEach(RedisServer::close);
    replica.close();
    primary.close();
  }
}
