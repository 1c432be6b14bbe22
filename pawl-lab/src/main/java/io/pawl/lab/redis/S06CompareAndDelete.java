package io.pawl.lab.redis;

import io.pawl.Lease;
import io.pawl.lab.stage.Actor;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** The sound recipe for one Redis: it has no fence, and nobody tells the holder. */
public final class S06CompareAndDelete implements Specimen {

  private static final long SHORT_MILLIS = 100;
  private static final long LONG_MILLIS = 60_000;

  @Override
  public String id() {
    return "S6";
  }

  @Override
  public String title() {
    return "SET NX PX with a random value, compare-and-delete in Lua";
  }

  @Override
  public String origin() {
    return "The Redis manual's recipe for one server.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    var server = stage.redis();
    ValueLock a = new ValueLock(stage.redis(), stage.name(), "a-17");
    ValueLock b = new ValueLock(stage.redis(), stage.name(), "b-42");
    a.tryLock(SHORT_MILLIS);
    trace.holds("A", "SET NX PX 100 → OK");
    stage.await("the key runs out", () -> server.exists(stage.name()) == 0);
    trace.fault("A", "stands still: the key is gone");
    b.tryLock(LONG_MILLIS);
    trace.holds("B", "SET NX PX → OK");
    trace.writes("B", "writes");
    trace.writes("A", "goes on and writes");
    boolean mine = a.deleteIfMine();
    trace.ends("A", "compare-and-delete → " + (mine ? 1 : 0) + ": only now A learns of it");
    return Finding.twoHolders(trace, "A's write after its pause is taken; A learns at its release");
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Actor a = stage.actor(service());
    long token = a.awaitHold();
    AtomicBoolean stopped = new AtomicBoolean();
    trace.holds("A", "acquire → token " + token, token, () -> !stopped.get() && a.believes());
    a.pause();
    stopped.set(true);
    trace.fault("A", "SIGSTOP");
    Optional<Lease> b = PawlSteps.granted(stage, stage.pawl(service()), "B");
    if (b.isEmpty()) {
      return new Finding(Verdict.STALLED, "B was not granted the lock", "acquire");
    }
    boolean first = stage.fencedWrite("B", b.get().token());
    a.resume();
    trace.fault("A", "SIGCONT");
    boolean believes = a.believes();
    trace.step("A", "isValid → " + believes);
    boolean second = stage.fencedWrite("A", token);
    return first && !second && !believes
        ? Finding.standsUnlessShared(
            trace, "A's first question after the pause says lost; its write is refused", "fence")
        : new Finding(Verdict.TWO_HOLDERS, "A wrote after B, or thought it held", "fence");
  }
}
