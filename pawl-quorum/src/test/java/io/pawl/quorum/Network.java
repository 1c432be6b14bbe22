package io.pawl.quorum;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Servers in a {@link World}, of which some are impaired now and then, and messages are late. */
final class Network {

  private static final int MILLI = 1_000_000;
  private static final long SECOND = 1_000_000_000L;

  private final World world;
  private final Random random;
  private final List<SimulatedNode.Server> servers = new ArrayList<>();
  private int furthestMillis = 120;
  private int latestMillis;

  /** Since when no node has been impaired. */
  private long soundSince = Long.MAX_VALUE;

  private boolean calm;

  Network(World world, Random random, int nodes) {
    this.world = world;
    this.random = random;
    for (int i = 0; i < nodes; i++) {
      boolean counts = random.nextInt(4) == 0;
      long ahead = random.nextInt(3) * random.nextInt(random.nextBoolean() ? 300 : 300_000);
      SimulatedNode.Server server =
          new SimulatedNode.Server(
              world, "node " + i, () -> counts ? 0 : 2 * (world.epochMicros() + ahead));
      server.answersAreLater = this::late;
      server.bellsAreLater = this::late;
      server.withdrawalsOvertake = true;
      server.attemptsOvertake = true;
      servers.add(server);
    }
  }

  /**
   * @param distance how far away a node may be from a client, in ms
   * @param late by how much a message of twelve is late at most, in ms; 0 for none
   */
  void reaches(int distance, int late) {
    furthestMillis = distance;
    latestMillis = late;
  }

  List<SimulatedNode.Server> servers() {
    return servers;
  }

  /** The connections of one client. */
  List<SimulatedNode> stores() {
    return servers.stream().map(this::node).toList();
  }

  private SimulatedNode node(SimulatedNode.Server server) {
    long distance = random.nextInt(4) == 0 ? random.nextInt(furthestMillis) * (long) MILLI : 0;
    return new SimulatedNode(world, server, () -> distance + onTheWay());
  }

  private long onTheWay() {
    if (latestMillis > 0 && random.nextInt(12) == 0) {
      return random.nextInt(latestMillis * MILLI);
    }
    int percent = random.nextInt(100);
    return percent < 80
        ? MILLI / 20 + random.nextInt(MILLI / 10)
        : random.nextInt((percent < 98 ? 5 : 40) * MILLI);
  }

  private long late() {
    int percent = random.nextInt(100);
    return percent < 70 ? 0 : random.nextInt((percent < 95 ? 2 : 30) * MILLI);
  }

  long within(long nanos) {
    return (long) (random.nextDouble() * nanos);
  }

  /**
   * Impairs others from time to time, or none for up to 20 s, until it is {@linkplain #calms calm}.
   *
   * @param most how many at once
   * @param longest for how long, in ns
   */
  void impairs(int most, long longest) {
    for (SimulatedNode.Server server : servers) {
      server.away = false;
      server.standsStill = false;
      server.abstains = false;
      server.losesReplies = false;
    }
    soundSince = Math.min(soundSince, world.now());
    if (calm) {
      return;
    }
    if (random.nextInt(6) == 0) {
      world.later(within(20 * SECOND), () -> impairs(most, longest));
      return;
    }
    for (int i = random.nextInt(most + 1); i > 0; i--) {
      SimulatedNode.Server server = servers.get(random.nextInt(servers.size()));
      soundSince = Long.MAX_VALUE;
      switch (random.nextInt(4)) {
        case 0 -> server.away = true;
        case 1 -> server.standsStill = true;
        case 2 -> server.losesReplies = true;
        default -> server.abstains = true;
      }
    }
    world.later(within(longest), () -> impairs(most, longest));
  }

  /** No node is impaired once the present troubles are over. */
  void calms() {
    calm = true;
  }

  boolean isCalm() {
    return calm;
  }

  /** Whether no node has been impaired for {@code nanos}. */
  boolean isSoundFor(long nanos) {
    return soundSince != Long.MAX_VALUE && world.now() - soundSince > nanos;
  }
}
