package io.pawl.lab.chaos;

import io.pawl.quorum.QuorumStore;
import io.pawl.servers.EtcdCluster;
import io.pawl.servers.EtcdServer;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisSentinels;
import io.pawl.servers.RedisServer;
import io.pawl.servers.ServerProcess;
import io.pawl.servers.SmallDisk;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.servers.fault.ProxiedServer;
import io.pawl.servers.fault.Shard;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
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
 * @param shards the same servers in pairs of a primary and its replica, where they have replicas
 * @param rest what the servers have together, {@link Rest#NONE} where each is on its own
 * @param address by which workers come, through the proxies
 * @param ownAddress by which we come, past them
 */
record Ground(
    Store store,
    List<ProxiedServer> parts,
    List<Shard> shards,
    Rest rest,
    String address,
    String ownAddress)
    implements AutoCloseable {

  private static final int QUORUM_NODES = 3;

  /** After how much silence of a primary its sentinels have a replica take over. */
  private static final Duration DOWN_AFTER = Duration.ofSeconds(1);

  /** Nobody hears of a grant that the replica does not have. */
  private static final String CONFIRMED = "waitReplicas=1";

  /** Ours, when nothing is wrong but that the machine may be busy. */
  private static final String PATIENT = "timeout=10s";

  Ground(Store store, List<ProxiedServer> parts, Rest rest, String address, String ownAddress) {
    this(store, parts, List.of(), rest, address, ownAddress);
  }

  /** The longest lease of a quorum, for which a node stays out that may have forgotten. */
  private static final long FORGETFUL_MILLIS = 2_000;

  /** Something that there is too little of for a while. */
  record Shortage(Runnable begin, Runnable end) {}

  /** What servers have together, and themselves. */
  interface Rest {

    Rest NONE = () -> {};

    /** Returns once they see each other. */
    default void awaitHealthy() {}

    /** Of what there can be too little, by the fault that this is. */
    default Map<Fault.Kind, Shortage> shortages() {
      return Map.of();
    }

    /** Returns a number that grows whenever a replica takes over; asked when all are healthy. */
    default long takeovers() {
      return 0;
    }

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
    QUORUM(false, 4_000),
    SENTINEL(true, 0),
    CLUSTER(true, 0),
    POSTGRES_DISK(true, 0);

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
        case SENTINEL -> sentinel();
        case CLUSTER -> cluster();
        case POSTGRES_DISK -> postgresDisk();
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
    FaultProxy proxy = FaultProxy.before(server);
    Rest rest =
        new Rest() {
          @Override
          public Map<Fault.Kind, Shortage> shortages() {
            return Map.of(
                Fault.Kind.MEMORY_FULL,
                new Shortage(() -> allow(server, "1"), () -> allow(server, "0")));
          }

          @Override
          public void close() {
            server.close();
          }
        };
    IntFunction<String> url = at("redis", server);
    return new Ground(
        store,
        List.of(new ProxiedServer(store.word(), server, proxy)),
        rest,
        url.apply(proxy.port()),
        url.apply(server.port()));
  }

  /**
   * @param bytes 0 for as many as there are
   */
  private static void allow(RedisServer server, String bytes) {
    server.call("CONFIG", "SET", "maxmemory", bytes);
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

  private static Ground sentinel() {
    RedisSentinels group = RedisSentinels.startProxied(DOWN_AFTER);
    List<ProxiedServer> parts =
        List.of(
            new ProxiedServer("server A", group.primary(), group.proxies().get(0)),
            new ProxiedServer("server B", group.replica(), group.proxies().get(1)));
    Rest rest =
        new Rest() {
          @Override
          public void awaitHealthy() {
            group.awaitSettled();
          }

          @Override
          public long takeovers() {
            return group.takeovers();
          }

          @Override
          public void close() {
            group.close();
          }
        };
    String sentinels =
        group.sentinels().stream()
            .map(sentinel -> sentinel.host() + ":" + sentinel.port())
            .collect(Collectors.joining(","));
    String address = "redis-sentinel://" + sentinels + "?master=" + RedisSentinels.NAME + "&";
    List<Shard> shards = List.of(new Shard("the group", parts.get(0), parts.get(1)));
    return new Ground(Store.SENTINEL, parts, shards, rest, address + CONFIRMED, address + PATIENT);
  }

  private static Ground cluster() {
    RedisCluster cluster = RedisCluster.startProxied();
    List<ProxiedServer> parts = new ArrayList<>();
    for (int i = 0; i < cluster.nodes().size(); i++) {
      parts.add(new ProxiedServer("node", cluster.nodes().get(i), cluster.proxies().get(i)));
    }
    List<Shard> shards = new ArrayList<>();
    for (int i = 0; i < cluster.shards(); i++) {
      shards.add(new Shard("shard " + i, parts.get(i), parts.get(cluster.shards() + i)));
    }
    Rest rest =
        new Rest() {
          @Override
          public void awaitHealthy() {
            cluster.awaitSettled();
          }

          @Override
          public long takeovers() {
            return cluster.takeovers();
          }

          @Override
          public void close() {
            cluster.close();
          }
        };
    String address = "redis-cluster://" + addresses(parts) + "?";
    return new Ground(Store.CLUSTER, parts, shards, rest, address + CONFIRMED, address + PATIENT);
  }

  private static Ground postgresDisk() {
    PostgresServer server = PostgresServer.startOnSmallDisk();
    SmallDisk disk = server.disk();
    FaultProxy proxy = FaultProxy.before(server);
    Rest rest =
        new Rest() {
          @Override
          public void awaitHealthy() {
            server.awaitServing();
          }

          @Override
          public Map<Fault.Kind, Shortage> shortages() {
            return Map.of(Fault.Kind.DISK_FULL, new Shortage(disk::fill, disk::free));
          }

          @Override
          public void close() {
            server.close();
          }
        };
    return new Ground(
        Store.POSTGRES_DISK,
        List.of(new ProxiedServer("postgres", server, proxy)),
        rest,
        server.plainUrl(proxy.port()),
        server.plainUrl(server.port()));
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

  /** What there is to go wrong; a primary and its replica are one server. */
  Fault.Scene scene() {
    int servers = shards.isEmpty() ? parts.size() : shards.size();
    Set<Fault.Kind> others = EnumSet.noneOf(Fault.Kind.class);
    others.addAll(rest.shortages().keySet());
    if (!parts.isEmpty() && parts.stream().allMatch(part -> part.proxy().knowsPushes())) {
      others.add(Fault.Kind.PUSHES_DROPPED);
    }
    return new Fault.Scene(servers, !shards.isEmpty(), others);
  }

  /** Returns one of them, the primary where it has a replica. */
  ProxiedServer part(int number) {
    return shards.isEmpty() ? parts.get(number) : shards.get(number).primary();
  }

  /** As people know it. */
  String name(int number) {
    return shards.isEmpty() ? parts.get(number).name() : shards.get(number).name();
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
