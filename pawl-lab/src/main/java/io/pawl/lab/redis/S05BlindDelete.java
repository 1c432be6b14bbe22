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
import java.util.Optional;

/** A holder that is late deletes the lock of the next one. */
public final class S05BlindDelete implements Specimen {

  private static final long SHORT_MILLIS = 100;
  private static final long LONG_MILLIS = 60_000;

  @Override
  public String id() {
    return "S5";
  }

  @Override
  public String title() {
    return "SET NX PX, then DEL";
  }

  @Override
  public String origin() {
    return "Countless services and several starters.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    var server = stage.redis();
    ValueLock a = new ValueLock(stage.redis(), stage.name(), "1");
    ValueLock b = new ValueLock(stage.redis(), stage.name(), "1");
    ValueLock c = new ValueLock(stage.redis(), stage.name(), "1");
    a.tryLock(SHORT_MILLIS);
    trace.holds("A", "SET NX PX 100 → OK");
    stage.await("the key runs out", () -> server.exists(stage.name()) == 0);
    trace.fault("A", "works for longer than its lease: the key is gone");
    b.tryLock(LONG_MILLIS);
    trace.holds("B", "SET NX PX → OK");
    a.deleteBlindly();
    trace.ends("A", "DEL → 1: B's key");
    if (c.tryLock(LONG_MILLIS)) {
      trace.holds("C", "SET NX PX → OK, beside B");
    }
    trace.writes("B", "writes");
    return Finding.twoHolders(trace, "A's release frees B's lock, and C holds beside B");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Pawl pawl = stage.pawl(service());
    Lease a = PawlSteps.holdsWithoutRenewal(stage, stage.pawl(service()), "A");
    Optional<Lease> b = PawlSteps.granted(stage, pawl, "B");
    PawlSteps.closesLate(stage, a, "A");
    boolean refused = PawlSteps.isRefused(stage, stage.pawl(service()), "C");
    if (b.isEmpty() || !refused || !b.get().isValid()) {
      return new Finding(Verdict.TWO_HOLDERS, "A's late close ended B's hold", "tryAcquire of C");
    }
    boolean late = stage.fencedWrite("B", b.get().token()) && !stage.fencedWrite("A", a.token());
    return late
        ? Finding.standsUnlessShared(
            trace, "A's close names A's claim, so B keeps the lock; A's write is refused", "fence")
        : new Finding(Verdict.TWO_HOLDERS, "the fence let A write after B", "fence");
  }
}
