package io.pawl.bench.soak;

import io.pawl.servers.fault.ServerFault;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Which faults a soak plays and when, counted in takes that were told: all of it follows from the
 * seed. Every kind comes in every round, on every server, in an order of the round's own.
 */
record SoakPlan(long seed, long takes, List<Fault> faults) {

  private static final int TAKES_PER_ROUND = 300_000;
  private static final double SHORTEST_MILLIS = 20;
  private static final double LONGEST_MILLIS = 6_000;
  private static final int MOST_REPLIES = 8;

  /** What can happen. */
  enum Kind {
    SERVER_KILLED(ServerFault.SERVER_KILLED),
    SERVER_STOPPED(ServerFault.SERVER_STOPPED),
    CONNECTIONS_RESET(ServerFault.CONNECTIONS_RESET),
    REPLIES_DROPPED(ServerFault.REPLIES_DROPPED),
    REPLIES_SILENCED(ServerFault.REPLIES_SILENCED),
    CABLE_CUT(ServerFault.CABLE_CUT),
    CLIENT_KILLED(null);

    private final @Nullable ServerFault onServer;

    Kind(@Nullable ServerFault onServer) {
      this.onServer = onServer;
    }

    String title() {
      return onServer == null ? "kill -9 of a client JVM" : onServer.title();
    }

    boolean isOfClient() {
      return onServer == null;
    }

    ServerFault onServer() {
      return Objects.requireNonNull(onServer, "a client's fault");
    }
  }

  /**
   * @param at when so many takes have been told
   * @param part the number of the server, or whatever picks the client
   * @param millis how long it lasts, where it lasts
   * @param replies how many are dropped, where some are
   */
  record Fault(long at, Kind kind, int part, long millis, int replies) {}

  /**
   * @param takes to make in all
   * @param servers behind which there are others: a gate and its truth are two
   */
  static SoakPlan of(long seed, long takes, int servers) {
    Random random = new Random(seed);
    List<Fault> drawn = new ArrayList<>();
    long rounds = Math.max(1, takes / TAKES_PER_ROUND);
    for (long round = 0; round < rounds; round++) {
      List<Fault> some = new ArrayList<>();
      for (Kind kind : Kind.values()) {
        for (int part = 0; part < (kind.isOfClient() ? 1 : servers); part++) {
          int picked = kind.isOfClient() ? random.nextInt(Integer.MAX_VALUE) : part;
          some.add(new Fault(0, kind, picked, millis(random), 1 + random.nextInt(MOST_REPLIES)));
        }
      }
      Collections.shuffle(some, random);
      drawn.addAll(some);
    }
    long[] moments = random.doubles(drawn.size()).mapToLong(at -> (long) (at * takes)).toArray();
    Arrays.sort(moments);
    List<Fault> faults = new ArrayList<>();
    for (int i = 0; i < moments.length; i++) {
      Fault fault = drawn.get(i);
      faults.add(
          new Fault(moments[i], fault.kind(), fault.part(), fault.millis(), fault.replies()));
    }
    return new SoakPlan(seed, takes, List.copyOf(faults));
  }

  /** As often tens of milliseconds as seconds; the longest are longer than any timeout. */
  private static long millis(Random random) {
    double exponent = random.nextDouble();
    return Math.round(SHORTEST_MILLIS * Math.pow(LONGEST_MILLIS / SHORTEST_MILLIS, exponent));
  }
}
