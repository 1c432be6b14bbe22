package io.pawl;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.Interruptible;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.concurrent.UserFailures;
import io.pawl.engine.Engine;
import io.pawl.error.LeaseLostException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One candidate of an {@link Election}. It waits, leads and stands again until it is closed or its
 * body returns. See {@link Election#stand}.
 *
 * <p>Thread-safe.
 */
public final class Candidacy implements AutoCloseable {

  private static final long FIRST_PAUSE_MILLIS = 1_000;
  private static final long LAST_PAUSE_MILLIS = 30_000;
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);

  private static final Logger log = LoggerFactory.getLogger(Candidacy.class);

  /** A body that runs, and the lease under which it leads. */
  private record Leadership(Lease lease, Work work) {}

  /** A body that goes on after one interrupt is interrupted for each other reason all the same. */
  private static final class Work {
    private final Interruptible resigning;
    private final Interruptible closing;
    private final Interruptible losing;

    Work(Executor interrupts) {
      resigning = new Interruptible(interrupts);
      closing = new Interruptible(interrupts);
      losing = new Interruptible(interrupts);
    }

    /** Answers whether it was asked to come to an end. */
    boolean end() {
      boolean interrupted = resigning.end();
      interrupted |= closing.end();
      interrupted |= losing.end();
      return interrupted;
    }
  }

  private final Engine engine;
  private final Candidacies candidacies;
  private final DistributedLock lock;
  private final Duration whole;
  private final long graceNanos;
  private final LeaseBody<Exception> body;
  private final Thread thread;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final ReentrantLock mutex = new ReentrantLock();
  private volatile @Nullable Leadership leadership;

  /** Whether the last failure was the body's. Used by the candidacy's thread alone. */
  private boolean bodyFailed;

  Candidacy(
      Engine engine,
      Candidacies candidacies,
      DistributedLock lock,
      Duration whole,
      Duration grace,
      LeaseBody<Exception> body) {
    this.engine = engine;
    this.candidacies = candidacies;
    this.lock = lock;
    this.whole = whole;
    this.graceNanos = grace.toNanos();
    this.body = body;
    this.thread = new Thread(this::stand, "pawl-election-" + lock.name());
    thread.setDaemon(true);
  }

  String name() {
    return lock.name();
  }

  void start() {
    thread.start();
  }

  /** Instead of {@link #start}: who closes the client does not wait for it. */
  void neverBegins() {
    ended.complete(null);
  }

  /**
   * Returns the lease under which the body leads now, as far as this process knows; empty when it
   * does not lead.
   */
  public Optional<Lease> leadership() {
    Leadership now = leadership;
    return now != null && now.lease.isValid() ? Optional.of(now.lease) : Optional.empty();
  }

  /**
   * Interrupts the leader's body, once in a leadership however often this is called. When the body
   * has ended, another candidate leads, or this one again if it is the only one. Does nothing if
   * this candidate does not lead. Does not wait.
   */
  public void resign() {
    Leadership now = leadership;
    if (now != null) {
      now.work.resigning.interrupt();
    }
  }

  /**
   * Withdraws this candidate: interrupts the leader's body, gives the leadership back when the body
   * has ended, and waits for that for at most 5 s. A body that goes on keeps its lease until it
   * ends. A call from the body does not wait. Idempotent.
   */
  @Override
  public void close() {
    close(CLOSE_PATIENCE);
  }

  /**
   * As {@link #close()}, which waits for at most {@code longest}: 0 or more.
   *
   * @throws IllegalArgumentException for a negative time
   */
  public void close(Duration longest) {
    long nanos = Durations.waitNanos(longest);
    stop();
    if (!isHere() && !Uninterruptibly.await(ended, nanos)) {
      log.warn("the leader of '{}' goes on though it was interrupted", lock.name());
    }
  }

  /**
   * As {@link #close()}, without waiting; the future completes when the body has ended and the
   * leadership was given back.
   */
  public CompletableFuture<Void> closeAsync() {
    stop();
    return engine.forUser(ended);
  }

  /** Waits until this candidacy has ended. */
  public void awaitEnd() throws InterruptedException {
    Uninterruptibly.end(ended).await();
  }

  void stop() {
    mutex.lock();
    try {
      stopped.countDown();
      Leadership now = leadership;
      if (now != null) {
        now.work.closing.interrupt();
      } else {
        engine.workers().interrupts().execute(thread::interrupt); // in no body from now on
      }
    } finally {
      mutex.unlock();
    }
  }

  /** Whether its body is asking. */
  boolean isHere() {
    return Thread.currentThread() == thread;
  }

  /** Completes when its body has ended and the leadership was given back. */
  CompletableFuture<Void> ended() {
    return ended;
  }

  private boolean stands() {
    return stopped.getCount() > 0;
  }

  private void stand() {
    try {
      long pause = FIRST_PAUSE_MILLIS;
      while (stands() && !engine.lifecycle().isClosed()) {
        try {
          if (leadOnce()) {
            return;
          }
          pause = FIRST_PAUSE_MILLIS;
        } catch (Throwable e) {
          if (e instanceof InterruptedException && !bodyFailed) {
            continue; // while it waited: it is over, or somebody else's idea
          }
          if (stands() && !engine.lifecycle().isClosed()) {
            long wait = pause;
            UserFailures.log(
                e,
                failure ->
                    log.error(
                        "leading '{}' failed, standing again in {} ms",
                        lock.name(),
                        wait,
                        failure));
            pause(pause);
            pause = Math.min(2 * pause, LAST_PAUSE_MILLIS);
          } else if (bodyFailed) {
            UserFailures.log(e, failure -> log.error("leading '{}' failed", lock.name(), failure));
          }
        }
      }
    } finally {
      candidacies.remove(this);
      ended.complete(null);
    }
  }

  private void pause(long millis) {
    Thread.interrupted(); // which a body may have left; who stops this has opened the latch before
    try {
      if (stopped.await(millis, TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      // it is over: the caller looks
    }
  }

  /** Waits for the leadership and leads; answers whether the body has had enough. */
  private boolean leadOnce() throws Exception {
    Work work = new Work(engine.workers().interrupts());
    boolean interrupted = false;
    boolean returned = false;
    bodyFailed = false;
    try (Lease lease = lock.acquire()) {
      if (!begin(lease, work)) {
        lease.loan().drop();
        return true;
      }
      try {
        lead(lease, work);
        returned = true;
      } finally {
        interrupted = end(work);
      }
    } catch (InterruptedException | LeaseLostException e) {
      if (!interrupted && !returned) {
        throw e;
      }
      UserFailures.log(
          e,
          failure -> log.info("no longer the leader of '{}': {}", lock.name(), failure.toString()));
    }
    return !interrupted;
  }

  /** Who waited for a long lease gets it with less than half left, which may be all grace. */
  private void renewIfShort(Lease lease, Work work) {
    if (lease.remaining().toNanos() < graceNanos + whole.toNanos() / 6) {
      try {
        lease.extend(whole);
      } catch (LeaseLostException e) {
        work.losing.interrupt();
        throw e;
      }
    }
  }

  private void lead(Lease lease, Work work) throws Exception {
    if (!lease.loan().isTrusted()) { // this thread may have stood still since the grant
      work.losing.interrupt();
      throw lease.loan().lostException();
    }
    renewIfShort(lease, work);
    lease.loan().loss().hook(() -> lost(lease, work));
    Watch watch = new Watch(lease, work);
    bodyFailed = true;
    try {
      body.run(lease);
      bodyFailed = false;
    } finally {
      watch.stop();
    }
  }

  private CompletableFuture<Void> lost(Lease lease, Work work) {
    Leadership now = leadership;
    if (now == null || now.work != work) {
      return CompletableFuture.completedFuture(null); // the body has ended
    }
    CompletableFuture<Void> interrupted = work.losing.interrupt();
    log.warn(
        "the leader of '{}' still runs though its lease is lost: another may lead now,"
            + " and only a fence refuses writes with token {}",
        lock.name(),
        lease.token());
    return interrupted;
  }

  /** False where it does not stand any more. */
  private boolean begin(Lease lease, Work work) {
    mutex.lock();
    try {
      if (!stands()) {
        return false;
      }
      Thread.interrupted();
      leadership = new Leadership(lease, work);
      return true;
    } finally {
      mutex.unlock();
    }
  }

  private boolean end(Work work) {
    mutex.lock();
    try {
      leadership = null;
      return work.end();
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Interrupts the body when no more than its grace is left before its lease is lost, which gives
   * it back; a renewal puts it off.
   */
  private final class Watch {

    private final Lease lease;
    private final Work work;
    private volatile boolean over;
    private volatile Time.Pending next = () -> {};

    Watch(Lease lease, Work work) {
      this.lease = lease;
      this.work = work;
      look();
    }

    private void look() {
      long spare = lease.loan().nanosUntilLoss() - graceNanos;
      if (over) {
        return;
      }
      if (spare <= 0) {
        work.losing.interrupt();
      } else {
        next = engine.time().after(spare, this::look);
      }
    }

    void stop() {
      over = true;
      next.cancel();
    }
  }
}
