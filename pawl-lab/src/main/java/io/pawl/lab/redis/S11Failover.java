package io.pawl.lab.redis;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import io.pawl.options.PawlOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisServer;
import java.time.Duration;
import java.util.Optional;

/** The replica that is promoted never got the key. */
public final class S11Failover implements Specimen {

  private static final long LEASE_MILLIS = 30_000;

  @Override
  public String id() {
    return "S11";
  }

  @Override
  public String title() {
    return "S6 on a primary with an asynchronous replica";
  }

  @Override
  public String origin() {
    return "Sentinel, Cluster and managed Redis fail over like this.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  /** A primary, and a replica whose line to it can be silenced. */
  private record Pair(RedisServer primary, RedisServer replica, FaultProxy line) {

    static Pair on(Stage stage) throws Exception {
      RedisServer primary = stage.own(RedisServer.start());
      RedisServer replica = stage.own(RedisServer.start());
      FaultProxy line = stage.own(FaultProxy.before(primary.host(), primary.port()));
      replica.call("REPLICAOF", line.host(), "" + line.port());
      stage.await(
          "the replica is in step",
          () -> replica.text("INFO", "replication").contains("master_link_status:up"));
      return new Pair(primary, replica, line);
    }

    void failOver(Trace trace) {
      primary.kill();
      trace.fault("server", "the primary crashes");
      replica.call("REPLICAOF", "NO", "ONE");
      trace.step("server", "the replica is promoted");
    }

    void lag(Trace trace) {
      line.blackHole(Direction.TO_CLIENT);
      trace.fault("server", "the replica hears nothing more from the primary");
    }
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Pair pair = Pair.on(stage);
    ValueLock a = new ValueLock(stage.redis(pair.primary.url()), stage.name(), "a-17");
    pair.lag(trace);
    a.tryLock(LEASE_MILLIS);
    trace.holds("A", "SET NX PX → OK, on the primary");
    pair.failOver(trace);
    ValueLock b = new ValueLock(stage.redis(pair.replica.url()), stage.name(), "b-42");
    if (b.tryLock(LEASE_MILLIS)) {
      trace.holds("B", "SET NX PX → OK, on the promoted replica");
    }
    trace.writes("A", "writes");
    return Finding.twoHolders(trace, "the replica never got A's key, so B holds beside A");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Pair pair = Pair.on(stage);
    String parameters = "?waitReplicas=1&waitTimeout=200ms";
    PawlOptions impatient =
        PawlOptions.defaults().patience(Duration.ofSeconds(1)).shutdownGrace(Duration.ZERO);
    Pawl a = stage.own(Pawl.connect(pair.primary.url() + parameters, impatient));
    a.lock(stage.name() + "-warm").acquire().close();
    pair.lag(trace);
    try {
      Optional<Lease> lease = a.lock(stage.name()).tryAcquire();
      lease.ifPresent(it -> stage.holds("A", "tryAcquire", it));
    } catch (StoreUnavailableException e) {
      trace.refused("A", "tryAcquire → StoreUnavailableException: no replica has confirmed it");
    }
    pair.failOver(trace);
    Lease b = stage.pawl(pair.replica.url()).lock(stage.name()).acquire();
    stage.holds("B", "acquire, on the promoted replica", b);
    return trace.overlaps() == 0 && trace.spans().size() == 1
        ? Finding.stands(
            "with waitReplicas=1 A is not told of a grant that no replica has", "witness")
        : new Finding(Verdict.TWO_HOLDERS, "A was told of a grant that was lost", "witness");
  }
}
