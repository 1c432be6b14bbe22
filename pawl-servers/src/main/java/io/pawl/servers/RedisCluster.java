package io.pawl.servers;

import io.pawl.servers.RedisServer.Flavour;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A cluster of three primaries that share the slots evenly, in the order of {@link #nodes()}; after
 * them their replicas in the same order, where it has some.
 */
public final class RedisCluster implements AutoCloseable {
  private static final int PRIMARIES = 3;
  private static final int SLOTS = 16_384;

  private final List<RedisServer> nodes = new ArrayList<>();
  private final List<Port> busPorts = new ArrayList<>();
  private final List<FaultProxy> proxies = new ArrayList<>();

  private RedisCluster() {}

  public static RedisCluster start(Flavour flavour) {
    return start(setup -> setup.flavour(flavour));
  }

  /**
   * Starts a cluster with the settings that {@code change} makes for each node. With TLS the nodes
   * share one certificate.
   */
  public static RedisCluster start(UnaryOperator<RedisServer.Setup> change) {
    RedisCluster cluster = new RedisCluster();
    try {
      for (int i = 0; i < PRIMARIES; i++) {
        cluster.addNode(change);
      }
      cluster.join();
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  /**
   * Starts a cluster that keeps what it acknowledges, in which each primary has a replica. All are
   * announced by the proxies before them, so that replicas come through the proxies too; what nodes
   * gossip does not.
   */
  public static RedisCluster startProxied() {
    RedisCluster cluster = new RedisCluster();
    try {
      for (int i = 0; i < 2 * PRIMARIES; i++) {
        cluster.addNode(
            setup -> setup.persistent().setting("cluster-allow-replica-migration", "no"));
      }
      cluster.join();
      for (RedisServer node : cluster.nodes) {
        cluster.proxies.add(node.announcedBy("cluster-announce-port"));
      }
      for (int i = 0; i < PRIMARIES; i++) {
        String primary = cluster.nodes.get(i).text("CLUSTER", "MYID");
        RedisServer replica = cluster.nodes.get(PRIMARIES + i);
        Await.until(
            () -> replica.text("CLUSTER", "NODES").contains(primary),
            () -> replica + " did not hear of its primary");
        replica.call("CLUSTER", "REPLICATE", primary);
      }
      cluster.awaitSettled();
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  /** Returns the proxies in the order of {@link #nodes()}; none without. */
  public List<FaultProxy> proxies() {
    return List.copyOf(proxies);
  }

  /** Returns how many groups of a primary and its replica there are. */
  public int shards() {
    return PRIMARIES;
  }

  /** Returns a number that grows whenever a replica takes over. */
  public long takeovers() {
    long epochs = 0;
    for (int shard = 0; shard < PRIMARIES; shard++) {
      RedisServer first = nodes.get(shard);
      RedisServer primary = first.isPrimary() ? first : nodes.get(PRIMARIES + shard);
      epochs += Long.parseLong(info(primary, "cluster_my_epoch:"));
    }
    return epochs;
  }

  private static String info(RedisServer node, String name) {
    String info = node.text("CLUSTER", "INFO");
    int from = info.indexOf(name) + name.length();
    return info.substring(from, info.indexOf('\r', from));
  }

  /** Returns once a cluster with replicas is healthy, and each primary has its replica. */
  public void awaitSettled() {
    awaitHealthy();
    Await.until(this::haveSettled, () -> "the cluster did not settle");
  }

  private boolean haveSettled() {
    for (int shard = 0; shard < PRIMARIES; shard++) {
      int other = PRIMARIES + shard;
      boolean isPair =
          nodes.get(shard).isPrimary()
              ? nodes.get(other).replicates(proxies.get(shard).port())
              : nodes.get(shard).replicates(proxies.get(other).port())
                  && nodes.get(other).isPrimary();
      if (!isPair || nodes.get(shard).text("CLUSTER", "NODES").contains("fail")) {
        return false;
      }
    }
    return true;
  }

  private void addNode(UnaryOperator<RedisServer.Setup> change) {
    Port bus = Port.reserve();
    busPorts.add(bus);
    RedisServer.Setup setup =
        change
            .apply(RedisServer.setup())
            .clusterNode()
            .setting("cluster-port", Integer.toString(bus.number()));
    nodes.add(nodes.isEmpty() ? setup.start() : setup.certificateOf(nodes.get(0)).start());
  }

  private void join() {
    RedisServer first = nodes.get(0);
    for (int i = 0; i < nodes.size(); i++) {
      RedisServer node = nodes.get(i);
      node.call("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      if (i < PRIMARIES) {
        node.call(
            "CLUSTER",
            "ADDSLOTSRANGE",
            Integer.toString(i * SLOTS / PRIMARIES),
            Integer.toString((i + 1) * SLOTS / PRIMARIES - 1));
      }
      if (node != first) {
        first.call(
            "CLUSTER",
            "MEET",
            node.host(),
            Integer.toString(node.port()),
            Integer.toString(busPorts.get(i).number()));
      }
    }
    awaitHealthy();
  }

  public List<RedisServer> nodes() {
    return List.copyOf(nodes);
  }

  /** Returns the slot of a key, by the part between braces if it has one. */
  public int slotOf(String key) {
    return Integer.parseInt(nodes.get(0).text("CLUSTER", "KEYSLOT", key));
  }

  /** Returns the node that serves {@code slot}. */
  public RedisServer ownerOf(int slot) {
    return nodes.get(0).list("CLUSTER", "SLOTS").stream()
        .map(range -> (List<?>) range)
        .filter(range -> (long) range.get(0) <= slot && slot <= (long) range.get(1))
        .map(range -> ((List<?>) range.get(2)).get(1))
        .flatMap(port -> nodes.stream().filter(node -> node.port() == (long) port))
        .findFirst()
        .orElseThrow(() -> new ServerException("no node serves slot " + slot));
  }

  /** Returns a move of {@code slot} from its owner, to be made step by step. */
  public SlotMove moveSlot(int slot, RedisServer to) {
    return new SlotMove(this, slot, ownerOf(slot), to);
  }

  /** Returns once every node sees every other one and all slots served. */
  public void awaitHealthy() {
    Await.until(
        () -> nodes.stream().allMatch(this::isHealthy), () -> "the cluster was not healthy");
  }

  private boolean isHealthy(RedisServer node) {
    try {
      String info = node.text("CLUSTER", "INFO");
      return info.contains("cluster_state:ok")
          && info.contains("cluster_known_nodes:" + nodes.size())
          && info.contains("cluster_slots_ok:" + SLOTS);
    } catch (RespConnection.RespException | UncheckedIOException e) {
      return false; // reads its data yet, or has ended our connection as its role changed
    }
  }

  @Override
  public void close() {
    proxies.forEach(FaultProxy::close);
    nodes.forEach(RedisServer::close);
    busPorts.forEach(Port::close);
  }

  /**
   * One slot on its way from one node to another, step by step, so that a test can stop halfway:
   * {@link #begin}, then {@link #moveKeys}, then {@link #finish}. Between the first and the last
   * step the old owner answers ASK for keys that it no longer has.
   */
  public static final class SlotMove {
    private final RedisCluster cluster;
    private final String slot;
    private final RedisServer from;
    private final RedisServer to;

    SlotMove(RedisCluster cluster, int slot, RedisServer from, RedisServer to) {
      this.cluster = cluster;
      this.slot = Integer.toString(slot);
      this.from = from;
      this.to = to;
    }

    public RedisServer from() {
      return from;
    }

    public RedisServer to() {
      return to;
    }

    /** Marks the slot as IMPORTING on the new owner, then as MIGRATING on the old one. */
    public SlotMove begin() {
      to.call("CLUSTER", "SETSLOT", slot, "IMPORTING", from.text("CLUSTER", "MYID"));
      from.call("CLUSTER", "SETSLOT", slot, "MIGRATING", to.text("CLUSTER", "MYID"));
      return this;
    }

    /** Moves up to {@code limit} of the slot's keys and returns how many they were. */
    public int moveKeys(int limit) {
      List<?> keys = from.list("CLUSTER", "GETKEYSINSLOT", slot, Integer.toString(limit));
      List<String> names = keys.stream().map(String::valueOf).toList();
      if (!names.isEmpty()) {
        List<String> migrate =
            new ArrayList<>(List.of("MIGRATE", to.host(), Integer.toString(to.port()), "", "0"));
        migrate.addAll(List.of("5000", "KEYS"));
        migrate.addAll(names);
        from.call(migrate.toArray(String[]::new));
      }
      return names.size();
    }

    /** Moves the remaining keys and tells every node who owns the slot now. */
    public void finish() {
      while (moveKeys(100) > 0) {
        // The next hundred.
      }
      String owner = to.text("CLUSTER", "MYID");
      to.call("CLUSTER", "SETSLOT", slot, "NODE", owner);
      from.call("CLUSTER", "SETSLOT", slot, "NODE", owner);
      for (RedisServer node : cluster.nodes()) {
        if (node != to && node != from) {
          node.call("CLUSTER", "SETSLOT", slot, "NODE", owner);
        }
      }
    }
  }
}
