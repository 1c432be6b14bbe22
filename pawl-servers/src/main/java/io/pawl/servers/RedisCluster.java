package io.pawl.servers;

import io.pawl.servers.RedisServer.Flavour;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** A cluster of three primaries that share the slots evenly, in the order of {@link #nodes()}. */
public final class RedisCluster implements AutoCloseable {
  private static final int NODES = 3;
  private static final int SLOTS = 16_384;

  private final List<RedisServer> nodes = new ArrayList<>();
  private final List<Port> busPorts = new ArrayList<>();

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
      for (int i = 0; i < NODES; i++) {
        cluster.addNode(change);
      }
      cluster.join();
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
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
    for (int i = 0; i < NODES; i++) {
      RedisServer node = nodes.get(i);
      node.call("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      node.call(
          "CLUSTER",
          "ADDSLOTSRANGE",
          Integer.toString(i * SLOTS / NODES),
          Integer.toString((i + 1) * SLOTS / NODES - 1));
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
        () ->
            nodes.stream()
                .map(node -> node.text("CLUSTER", "INFO"))
                .allMatch(
                    info ->
                        info.contains("cluster_state:ok")
                            && info.contains("cluster_known_nodes:" + NODES)
                            && info.contains("cluster_slots_ok:" + SLOTS)),
        () -> "the cluster was not healthy");
  }

  @Override
  public void close() {
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
