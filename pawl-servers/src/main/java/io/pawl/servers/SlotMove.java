package io.pawl.servers;

import java.util.ArrayList;
import java.util.List;

/**
 * One slot on its way from one node to another, step by step, so that a test can stop halfway:
 * {@link #begin}, then {@link #moveKeys}, then {@link #finish}. Between the first and the last step
 * the old owner answers ASK for keys that it no longer has.
 */
public final class SlotMove {
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
