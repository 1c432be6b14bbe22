package io.pawl.lab.rival;

import io.pawl.JavaLock;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.time.Duration;
import org.redisson.api.RReadWriteLock;

/** A reader enters twice and leaves once: is it still renewed, and not after it has left? */
public final class S22ReentrantRead implements Specimen {

  @Override
  public String id() {
    return "S22";
  }

  @Override
  public String title() {
    return RedissonClients.TITLE + ": a read lock taken twice by one thread";
  }

  @Override
  public String origin() {
    return "redisson #5697 (renewals stop), #7251 (renewals leak).";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    var server = stage.redis();
    RReadWriteLock a = RedissonClients.on(stage).getReadWriteLock(stage.name());
    a.readLock().lock();
    trace.holds("A", "readLock().lock()");
    a.readLock().lock();
    trace.step("A", "readLock().lock() again");
    a.readLock().unlock();
    trace.step("A", "readLock().unlock(), one of two");
    Duration long3 = RedissonClients.WATCHDOG.multipliedBy(3);
    boolean stops = stage.holdsWithin(long3, () -> server.exists(stage.name()) == 0);
    if (stops) {
      trace.fault("server", "A's key has run out: nobody renews it");
      if (RedissonClients.on(stage).getReadWriteLock(stage.name()).writeLock().tryLock()) {
        trace.holds("B", "writeLock().tryLock() → true");
      }
      return Finding.twoHolders(trace, "the renewal of a re-entrant read lock stops");
    }
    trace.step("server", "A's key is there after three time-outs");
    a.readLock().unlock();
    trace.ends("A", "readLock().unlock(), the second");
    boolean leaks = !stage.holdsWithin(long3, () -> server.exists(stage.name()) == 0);
    trace.step("server", leaks ? "the key is still there" : "the key is gone");
    return new Finding(
        leaks ? Verdict.LOCKED_FOR_EVER : Verdict.NOT_REPRODUCED,
        leaks ? "a lock that was given back is renewed" : "it is renewed, and then given back",
        "EXISTS → " + server.exists(stage.name()));
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    JavaLock a =
        stage
            .pawl(service())
            .readWriteLock(stage.name(), Stage.renewedLease())
            .asJavaReadWriteLock()
            .readLock();
    var b = stage.pawl(service()).readWriteLock(stage.name(), Stage.renewedLease()).writeLock();
    a.lock();
    trace.holds("A", "readLock().lock()", a.token(), a::isValid);
    a.lock();
    a.unlock();
    trace.step("A", "readLock().lock() and unlock() once more");
    boolean refused = b.tryAcquire(Stage.LONGER).isEmpty();
    trace.refused("B", "writeLock().tryAcquire for 3 s → " + (refused ? "busy" : "held"));
    boolean kept = a.isValid();
    a.unlock();
    trace.ends("A", "readLock().unlock()");
    var lease = b.tryAcquire();
    lease.ifPresent(it -> stage.holds("B", "writeLock().tryAcquire", it));
    return refused && kept && lease.isPresent()
        ? Finding.standsUnlessShared(
            trace, "renewed until the last unlock, and then free at once", "witness")
        : new Finding(Verdict.TWO_HOLDERS, "the hold did not last, or outlived it", "isValid");
  }
}
