package io.pawl.lab.rival;

import io.pawl.lab.session.Etcd;
import io.pawl.lab.session.S19LeaseRanOut;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;

/** A waiter stands still until its lease has run out, and wakes when the lock has passed it by. */
public final class S28StoppedWaiter implements Specimen {

  private static final long SHORT_SECONDS = 2;
  private static final long LONG_SECONDS = 60;

  @Override
  public String id() {
    return "S28";
  }

  @Override
  public String title() {
    return "etcdctl lock (concurrency.Mutex), a waiter whose lease ran out";
  }

  @Override
  public String origin() {
    return "etcd #11456: granted on a lease that ran out; fixed in 3.5 by a look at one's own key.";
  }

  @Override
  public Service service() {
    return Service.ETCD;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Etcd etcd = new Etcd(stage);
    EtcdctlLock a = new EtcdctlLock(stage, LONG_SECONDS);
    stage.await("A is granted the lock", a::isGranted);
    trace.holds("A", "etcdctl lock");
    EtcdctlLock b = new EtcdctlLock(stage, SHORT_SECONDS);
    stage.await("B stands in line", () -> etcd.keys(stage.name()).size() == 2);
    trace.step("B", "etcdctl lock --ttl=2 → waits");
    b.pause();
    stage.await("B's lease runs out", () -> etcd.keys(stage.name()).size() == 1);
    trace.fault("B", "SIGSTOP: its lease runs out, its key is gone");
    EtcdctlLock c = new EtcdctlLock(stage, LONG_SECONDS);
    stage.await("C stands in line", () -> etcd.keys(stage.name()).size() == 2);
    trace.step("C", "etcdctl lock → waits");
    a.unlock();
    trace.ends("A", "unlocks");
    stage.await("C is granted the lock", c::isGranted);
    trace.holds("C", "granted");
    b.resume();
    stage.await("B holds, or has given up", () -> b.isGranted() || b.hasEnded());
    if (b.isGranted()) {
      trace.holds("B", "goes on, and is granted the lock");
      trace.writes("C", "writes");
      return Finding.twoHolders(trace, "B holds on a lease that ran out while it waited, beside C");
    }
    trace.step("B", "goes on, and ends: " + b.complaint());
    return new Finding(Verdict.NOT_REPRODUCED, "B finds its key gone, and gives up", b.complaint());
  }

  /** As in {@link S19LeaseRanOut}: a waiter that is cut off until its claim has run out. */
  @Override
  public Finding pawl(Stage stage) throws Exception {
    return new S19LeaseRanOut().pawl(stage);
  }
}
