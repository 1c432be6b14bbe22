package io.pawl.lab.chaos;

import io.pawl.servers.fault.ServerFault;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Something that goes wrong.
 *
 * @param gapMillis how long nothing is wrong before it
 * @param kind what happens
 * @param part the number of the server, or whatever picks the worker
 * @param millis how long it lasts, where it lasts
 * @param replies how many are dropped, where some are
 */
record Fault(long gapMillis, Kind kind, int part, long millis, int replies) {

  /** The same, after so long a gap. */
  Fault after(long otherGapMillis) {
    return new Fault(otherGapMillis, kind, part, millis, replies);
  }

  /** The same, on the next server or worker. */
  Fault elsewhere() {
    return new Fault(gapMillis, kind, part + 1 & Integer.MAX_VALUE, millis, replies);
  }

  /** The same, for longer by so much. */
  Fault longerBy(long moreMillis) {
    return new Fault(gapMillis, kind, part, millis + moreMillis, replies);
  }

  /**
   * What there is to go wrong.
   *
   * @param servers how many there are
   * @param replicas whether each has a replica
   * @param others of {@link Kind#isOfSomeStores}, what can go wrong there
   */
  record Scene(int servers, boolean replicas, Set<Kind> others) {}

  /** What can go wrong. */
  enum Kind {
    WORKER_STOPPED(null),
    WORKER_KILLED(null),
    WORKER_CLOCK_MOVED(null),
    WRITES_FAIL(null),
    TAKEOVER_BY_KILL(null),
    TAKEOVER_BY_STOP(null),
    REPLICA_STOPPED(null),
    DISK_FULL(null),
    MEMORY_FULL(null),
    SERVER_KILLED(ServerFault.SERVER_KILLED),
    SERVER_STOPPED(ServerFault.SERVER_STOPPED),
    CONNECTIONS_RESET(ServerFault.CONNECTIONS_RESET),
    REPLIES_DROPPED(ServerFault.REPLIES_DROPPED),
    REPLIES_SILENCED(ServerFault.REPLIES_SILENCED),
    PUSHES_DROPPED(ServerFault.PUSHES_DROPPED),
    CABLE_CUT(ServerFault.CABLE_CUT),
    NETWORK_SLOW(ServerFault.NETWORK_SLOW);

    private final @Nullable ServerFault onServer;

    Kind(@Nullable ServerFault onServer) {
      this.onServer = onServer;
    }

    boolean isOfWorker() {
      return onServer == null && !isOfFewStores();
    }

    /** Whether it takes a primary with a replica. */
    boolean isOfReplicas() {
      return this == TAKEOVER_BY_KILL || this == TAKEOVER_BY_STOP || this == REPLICA_STOPPED;
    }

    /** Whether it takes something that there can be too little of. */
    boolean isShortage() {
      return this == DISK_FULL || this == MEMORY_FULL;
    }

    /** Whether it takes more than a server, or a proxy that knows what the server says. */
    boolean isOfSomeStores() {
      return isShortage() || this == PUSHES_DROPPED;
    }

    /** Whether it takes what few stores have. */
    boolean isOfFewStores() {
      return isOfReplicas() || isShortage();
    }

    /** Whether it is of no one worker, and all have to get over it once it has ended. */
    boolean endsForAll() {
      return !isOfWorker() || this == WRITES_FAIL;
    }

    ServerFault onServer() {
      return Objects.requireNonNull(onServer, "a worker's fault");
    }

    String title() {
      return switch (this) {
        case WORKER_STOPPED -> "SIGSTOP of a worker";
        case WORKER_KILLED -> "kill -9 of a worker";
        case WRITES_FAIL -> "no write to the file succeeds";
        case TAKEOVER_BY_KILL -> "kill -9 of the primary, and its replica takes over";
        case TAKEOVER_BY_STOP -> "SIGSTOP of the primary, and its replica takes over";
        case REPLICA_STOPPED -> "SIGSTOP of the replica";
        case DISK_FULL -> "the server's disk is full";
        case MEMORY_FULL -> "the server is short of memory";
        case WORKER_CLOCK_MOVED -> "an hour more or less on workers' wall clocks";
        default -> onServer().title();
      };
    }

    /** What can go wrong there. */
    static List<Kind> possible(Scene scene) {
      List<Kind> some = new ArrayList<>(List.of(values()));
      some.removeIf(kind -> scene.servers() == 0 ? !kind.isOfWorker() : kind == WRITES_FAIL);
      some.removeIf(kind -> kind.isOfReplicas() && !scene.replicas());
      some.removeIf(kind -> kind.isOfSomeStores() && !scene.others().contains(kind));
      return some;
    }
  }
}
