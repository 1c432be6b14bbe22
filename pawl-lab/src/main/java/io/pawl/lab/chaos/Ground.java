package io.pawl.lab.chaos;

import io.pawl.quorum.QuorumStore;
import io.pawl.servers.EtcdCluster;
import io.pawl.servers.EtcdServer;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisServer;
import io.pawl.servers.ServerProcess;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.servers.fault.ProxiedServer;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * A store to be disturbed. Servers lose nothing that they acknowledged when they are killed:
 * databases by their own defaults, Redis with {@code appendfsync always}; only a Redis that is a
 * gate keeps nothing.
 *
 * @param store which one
 * @param parts its servers, each behind a proxy of its own; none for a file
 * @param rest what the servers have together, {@link Rest#NONE} where each is on its own
 * @param address by which workers come, through the proxies
 * @param ownAddress by which we come, past them
 */
record Ground(Store store, List<ProxiedServer> parts, Rest rest, String address, String ownAddress)
    implements AutoCloseable {

  private static final int QUORUM_NODES = 3;

  /** The longest lease of a quorum, for which a node stays out that may have forgotten. */
  private static final long FORGETFUL_MILLIS = 2_000;

  /** What servers have together, and themselves. */
  interface Rest {

    Rest NONE = () -> {};

    /** Returns once they see each other. */
    default void awaitHealthy() {}

    void close();
  }

  /** What can be disturbed. */
  enum Store {
    SQLITE(true, 0),
    MYSQL(true, 0),
    MARIADB(true, 0),
    POSTGRES(true, 0),
    REDIS(true, 0),
    VALKEY(true, 0),
    GATE(true, 0),
    ZOOKEEPER(false, 3_500),
    ETCD(false, 2_000),
    ETCD_CLUSTER(false, 4_000),
    REDIS_CLUSTER(true, 0),
    QUORUM(false, 4_000);

    final boolean hasCounters;

    /** How much longer than its lease a dead client stands in the way, at most. */
    final long sessionMillis;

    Store(boolean hasCounters, long sessionMillis) {
      this.hasCounters = hasCounters;
      this.sessionMillis = sessionMillis;
    }

    /** Whether it serves semaphores. */
    boolean hasPermits() {
      return this != QUORUM;
    }

    /** As people write it. */
    String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The one of that word. */
    static Store of(String word) {
      return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /**
     * Starts its servers.
     *
     * @param folder for a file
     */
    Ground start(Path folder) {
      return switch (this) {
        case SQLITE -> {
          String url = "sqlite:" + folder.resolve("chaos.db");
          yield new Ground(this, List.of(), Rest.NONE, url, url);
        }
        case MYSQL -> mysql(this, MySqlServer.Flavour.MYSQL);
        case MARIADB -> mysql(this, MySqlServer.Flavour.MARIADB);
        case POSTGRES -> {
          PostgresServer server = PostgresServer.start();
          yield behind(this, server, FaultProxy.before(server), server::plainUrl);
        }
        case REDIS -> redis(this, RedisServer.Flavour.REDIS, true);
        case VALKEY -> redis(this, RedisServer.Flavour.VALKEY, true);
        case GATE -> gate();
        case ZOOKEEPER -> {
          ZooKeeperServer server = ZooKeeperServer.start();
          yield behind(this, server, FaultProxy.before(server), at("zk", server));
        }
        case ETCD -> {
          EtcdServer server = EtcdServer.start();
          yield behind(this, server, FaultProxy.before(server), at("etcd", server));
        }
        case ETCD_CLUSTER -> etcdCluster();
        case REDIS_CLUSTER -> redisCluster();
        case QUORUM -> quorum();
      };
    }
  }

  private static IntFunction<String> at(String scheme, ServerProcess server) {
    return port -> scheme + "://" + server.host() + ":" + port;
  }

  private static Ground behind(
      Store store, ServerProcess server, FaultProxy proxy, IntFunction<String> url) {
    List<ProxiedServer> parts = List.of(new ProxiedServer(store.word(), server, proxy));
    return new Ground(store, parts, Rest.NONE, url.apply(proxy.port()), url.apply(server.port()));
  }

  private static Ground mysql(Store store, MySqlServer.Flavour flavour) {
    MySqlServer server = MySqlServer.start(flavour);
    return behind(store, server, FaultProxy.before(server), server::plainUrl);
  }

  private static Ground redis(Store store, RedisServer.Flavour flavour, boolean isPersistent) {
    RedisServer.Setup setup = RedisServer.setup().flavour(flavour);
    RedisServer server = isPersistent ? setup.persistent().start() : setup.start();
    return behind(store, server, FaultProxy.before(server), at("redis", server));
  }

  private static Ground gate() {
    Ground gate = redis(Store.REDIS, RedisServer.Flavour.REDIS, false);
    try {
      Ground truth = mysql(Store.MYSQL, MySqlServer.Flavour.MYSQL);
      return new Ground(
          Store.GATE,
          List.of(gate.parts().get(0), truth.parts().get(0)),
          Rest.NONE,
          "gate:" + gate.address() + "|" + truth.address(),
          truth.ownAddress());
    } catch (RuntimeException e) {
      gate.close();
      throw e;
    }
  }

  private static Ground etcdCluster() {
    EtcdCluster cluster = EtcdCluster.start();
    List<ProxiedServer> parts =
        cluster.members().stream()
            .map(member -> new ProxiedServer("member", member, FaultProxy.before(member)))
            .toList();
    return new Ground(
        Store.ETCD_CLUSTER,
        parts,
        cluster::close,
        "etcd://" + addresses(parts),
        "etcd://" + cluster.addresses());
  }

  /** Its nodes announce their proxies, so that clients that are sent on stay behind them. */
  private static Ground redisCluster() {
    RedisCluster cluster = RedisCluster.start(RedisServer.Setup::persistent);
    List<ProxiedServer> parts = new ArrayList<>();
    for (RedisServer node : cluster.nodes()) {
      FaultProxy proxy = FaultProxy.before(node);
      node.call("CONFIG", "SET", "cluster-announce-port", Integer.toString(proxy.port()));
      node.call("CONFIG", "REWRITE");
      parts.add(new ProxiedServer("node", node, proxy));
    }
    Rest rest =
        new Rest() {
          @Override
          public void awaitHealthy() {
            cluster.awaitHealthy();
          }

          @Override
          public void close() {
            cluster.close();
          }
        };
    String address = "redis-cluster://" + addresses(parts);
    return new Ground(Store.REDIS_CLUSTER, parts, rest, address, address);
  }

  /** A node that was started anew stays out for the longest lease. */
  private static Ground quorum() {
    List<ProxiedServer> parts = new ArrayList<>();
    for (int i = 0; i < QUORUM_NODES; i++) {
      RedisServer node = RedisServer.setup().persistent().start();
      parts.add(new ProxiedServer("node", node, FaultProxy.before(node)));
    }
    String own = quorumOf(parts, part -> part.server().host() + ":" + part.server().port());
    try (QuorumStore store = (QuorumStore) Stores.open(StoreUrl.parse(own))) {
      store.initialize();
    }
    String proxied = quorumOf(parts, part -> part.proxy().host() + ":" + part.proxy().port());
    return new Ground(Store.QUORUM, parts, Rest.NONE, proxied, own);
  }

  private static String quorumOf(
      List<ProxiedServer> parts, Function<ProxiedServer, String> address) {
    return parts.stream()
        .map(part -> "redis://" + address.apply(part) + "?timeout=500ms")
        .collect(Collectors.joining("|", "quorum:?longestLease=" + FORGETFUL_MILLIS + "ms|", ""));
  }

  private static String addresses(List<ProxiedServer> parts) {
    return parts.stream()
        .map(part -> part.proxy().host() + ":" + part.proxy().port())
        .collect(Collectors.joining(","));
  }

  @Override
  public void close() {
    if (rest == Rest.NONE) {
      parts.forEach(ProxiedServer::close);
    } else {
      parts.forEach(part -> part.proxy().close());
      rest.close();
    }
  }
}
