package io.pawl.lab.redis;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import io.pawl.servers.FaultProxy;
import java.util.Optional;

/** As S6, with a transaction for the release. */
public final class S07WatchMulti implements Specimen {

  private static final long SHORT_MILLIS = 100;
  private static final long LONG_MILLIS = 60_000;

  @Override
  public String id() {
    return "S7";
  }

  @Override
  public String title() {
    return "SET NX PX, released by WATCH, GET, MULTI, DEL, EXEC";
  }

  @Override
  public String origin() {
    return "Books on Redis from before it had Lua.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    var server = stage.redis();
    FaultProxy line = stage.own(FaultProxy.before(server(stage), stage.ground().redis().port()));
    var counted = stage.redis("redis://" + line.host() + ":" + line.port());
    ValueLock a = new ValueLock(counted, stage.name(), "a-17");
    ValueLock b = new ValueLock(stage.redis(), stage.name(), "b-42");
    a.tryLock(LONG_MILLIS);
    trace.holds("A", "SET NX PX → OK");
    int before = line.trips();
    a.deleteWithWatch();
    int trips = line.trips() - before;
    trace.ends("A", "WATCH, GET, MULTI, DEL, EXEC: " + trips + " round trips");
    a.tryLock(SHORT_MILLIS);
    trace.holds("A", "SET NX PX 100 → OK");
    stage.await("the key runs out", () -> server.exists(stage.name()) == 0);
    trace.fault("A", "stands still: the key is gone");
    b.tryLock(LONG_MILLIS);
    trace.holds("B", "SET NX PX → OK");
    trace.writes("B", "writes");
    trace.writes("A", "goes on and writes");
    boolean mine = a.deleteWithWatch();
    trace.ends("A", "WATCH, GET → " + (mine ? "its own" : "B's value; UNWATCH"));
    return Finding.twoHolders(
        trace, "as S6; a release costs " + trips + " round trips unless they are pipelined");
  }

  private static String server(Stage stage) {
    return stage.ground().redis().host();
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Pawl pawl = stage.pawl(service());
    FaultProxy line = stage.own(FaultProxy.before(server(stage), stage.ground().redis().port()));
    Lease a = PawlSteps.holdsWithoutRenewal(stage, stage.pawlOnRedis(line), "A");
    Optional<Lease> b = PawlSteps.granted(stage, pawl, "B");
    if (b.isEmpty()) {
      return new Finding(Verdict.STALLED, "B was not granted the lock", "acquire");
    }
    Trace trace = stage.trace();
    boolean first = stage.fencedWrite("B", b.get().token());
    boolean second = stage.fencedWrite("A", a.token());
    b.get().close();
    trace.ends("B", "close");
    Pawl counted = stage.pawlOnRedis(line);
    Lease again = counted.lock(stage.name()).acquire();
    stage.holds("C", "acquire", again);
    int before = line.trips();
    again.close();
    int trips = line.trips() - before;
    trace.ends("C", "close: round trips: " + trips);
    if (!first || second) {
      return new Finding(Verdict.TWO_HOLDERS, "the fence let A write after B", "fence");
    }
    return trips == 1
        ? Finding.standsUnlessShared(
            trace, "A's write is refused; a release costs 1 round trip", "fence")
        : new Finding(Verdict.COSTLY, "a release costs " + trips + " round trips", "the proxy");
  }
}
