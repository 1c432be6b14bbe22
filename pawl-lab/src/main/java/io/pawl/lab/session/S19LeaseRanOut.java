package io.pawl.lab.session;

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
import java.util.concurrent.CompletableFuture;

/** A waiter wakes, nobody stands before it, and its own key ran out long ago. */
public final class S19LeaseRanOut implements Specimen {

  private static final long SHORT_SECONDS = 1;
  private static final long LONG_SECONDS = 60;

  @Override
  public String id() {
    return "S19";
  }

  @Override
  public String title() {
    return "keys in line, without a look at one's own lease after the wait";
  }

  @Override
  public String origin() {
    return "Clients of etcd's lock API, and home-made locks on its keys.";
  }

  @Override
  public Service service() {
    return Service.ETCD;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    String lock = stage.name();
    Etcd etcd = new Etcd(stage);
    long a = etcd.grant(LONG_SECONDS);
    etcd.enter(lock, a);
    trace.holds("A", "puts its key, is first");
    long b = etcd.grant(SHORT_SECONDS);
    long placeOfB = etcd.enter(lock, b);
    trace.step("B", "puts its key with a lease of 1 s, waits for A's deletion");
    stage.await("B's lease runs out", () -> !etcd.isThere(lock, b));
    trace.fault("B", "stands still: its lease runs out, its key is gone");
    long c = etcd.grant(LONG_SECONDS);
    long placeOfC = etcd.enter(lock, c);
    trace.step("C", "puts its key, waits for A's deletion");
    etcd.leave(lock, a);
    trace.ends("A", "deletes its key");
    if (etcd.isFirst(lock, placeOfC)) {
      trace.holds("C", "wakes, is first");
    }
    if (etcd.isFirst(lock, placeOfB)) {
      trace.holds("B", "goes on, sees A's key gone and nobody before it");
    }
    trace.writes("C", "writes");
    return Finding.twoHolders(trace, "B holds on a lease that ran out while it waited, beside C");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    FaultProxy line = stage.own(FaultProxy.before(stage.ground().etcd()));
    Pawl first = stage.pawl(service());
    Pawl second = stage.pawl("etcd://" + line.host() + ":" + line.port() + "/lab");
    Pawl third = stage.pawl(service());
    Lease a = first.lock(stage.name()).acquire();
    stage.holds("A", "acquire", a);
    CompletableFuture<Lease> b = second.lock(stage.name(), Stage.shortLease()).acquireAsync();
    stage.await("B stands in line", () -> first.inspect(stage.name()).waiters().size() == 1);
    trace.step("B", "acquire → waits in line");
    line.cut();
    trace.fault("B", "is cut off");
    stage.await("B's claim runs out", () -> first.inspect(stage.name()).waiters().isEmpty());
    trace.step("server", "B's claim has run out");
    a.close();
    trace.ends("A", "close");
    Optional<Lease> c = PawlSteps.granted(stage, third, "C");
    line.heal();
    trace.step("B", "its line is whole again");
    if (c.isEmpty()) {
      return new Finding(Verdict.STALLED, "C was not granted the lock", "acquire");
    }
    stage.await(
        "B stands in line anew, or thinks that it holds",
        () -> b.isDone() || first.inspect(stage.name()).waiters().size() == 1);
    boolean stillC = PawlSteps.isRefused(stage, first, "D") && c.get().isValid();
    boolean waits = !b.isDone();
    trace.step("B", waits ? "waits in line anew" : "was granted the lock beside C");
    c.get().close();
    trace.ends("C", "close");
    stage.holds("B", "granted after C", stage.get(b));
    return stillC && waits
        ? Finding.standsUnlessShared(
            trace, "B finds its claim gone, stands in line anew, and holds after C", "witness")
        : Finding.twoHolders(trace, "B held beside C");
  }
}
