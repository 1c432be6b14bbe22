package io.pawl.lab.chaos;

import io.pawl.Candidacy;
import io.pawl.DistributedLock;
import io.pawl.GroupLease;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.checker.Share;
import io.pawl.checker.Take.Outcome;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.error.LeaseLostException;
import io.pawl.error.PawlException;
import io.pawl.error.RunTooLongException;
import io.pawl.error.StoreException;
import io.pawl.lab.chaos.Notebook.End;
import io.pawl.lab.chaos.Notebook.Line;
import io.pawl.lab.chaos.Notebook.Page;
import io.pawl.lab.chaos.Stocks.Counted;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One turn of each shape in which users use locks. Stateless but for its client; thread-safe. */
final class Players {

  private static final Duration WAIT = Duration.ofMillis(400);
  private static final Duration LONG_WAIT = Duration.ofSeconds(5);
  static final long JOIN_SECONDS = 10;
  private static final long SHORT_STAY = 5;
  private static final long LONG_STAY = 60;
  private static final int LONG_ONE_IN = 12;
  private static final int RENEWED_ONE_IN = 40;
  private static final long PATIENCE_SECONDS = 120;
  private static final int REST_AFTER_FAILURE_MILLIS = 50;

  private final Pawl pawl;
  private final Referee referee;
  private final Notebook notebook;
  private final LockOptions options;

  Players(Pawl pawl, Referee referee, Notebook notebook, LockOptions options) {
    this.pawl = pawl;
    this.referee = referee;
    this.notebook = notebook;
    this.options = options;
  }

  /** Most are short; some last so long that the lease has to be renewed. */
  private long stay(Random random) {
    int roll = random.nextInt(RENEWED_ONE_IN);
    long renewed = 2 * options.lease().toMillis();
    long longest = roll == 0 ? renewed : roll % LONG_ONE_IN == 0 ? LONG_STAY : SHORT_STAY;
    return 1 + random.nextInt((int) longest);
  }

  private DistributedLock lock(Subject subject) {
    LockOptions its = subject == Subject.STRICT ? options.strictOrder() : options;
    return pawl.lock(subject.lock(), its);
  }

  private interface Request<L> {
    Optional<L> lease() throws InterruptedException;
  }

  /** Waits, stays inside and gives back; an interrupt ends the wait. */
  private void turn(Page page, Random random, Request<Lease> request) {
    Optional<Lease> lease;
    try {
      lease = request.lease();
    } catch (InterruptedException | PawlException | IllegalStateException e) {
      page.ended(End.NOT_GRANTED);
      return;
    }
    if (lease.isEmpty()) {
      page.ended(End.NOT_GRANTED);
      return;
    }
    inside(page, lease.get(), stay(random));
    Visit.close(page, lease.get()::close);
  }

  /** The loss is written down, and now and then its callback blocks and calls back. */
  private void inside(Page page, Lease lease, long millis) {
    page.granted(lease.token());
    CountDownLatch left = new CountDownLatch(1);
    lease.onLost(() -> lost(page, left));
    try {
      new Visit(referee, page, lease::isValid).stay(millis);
    } finally {
      left.countDown();
    }
  }

  /**
   * @param left by the body, which asks its lease meanwhile
   */
  private void lost(Page page, CountDownLatch left) {
    page.told();
    if (page.signature() % 4 == 1) {
      try {
        page.set(Line.JOINED, left.await(JOIN_SECONDS, TimeUnit.SECONDS) ? 1 : 2);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    if (page.signature() % 4 == 0) {
      Random random = new Random(page.signature());
      Page own = notebook.ask(Subject.CALLBACK, Share.EXCLUSIVE, Shape.CALLBACK).within(WAIT);
      turn(own, random, () -> lock(Subject.CALLBACK).tryAcquire(WAIT));
    }
  }

  void acquire(Subject subject, Random random) {
    Page page = notebook.ask(subject, Share.EXCLUSIVE, Shape.ACQUIRE);
    turn(page, random, () -> Optional.of(lock(subject).acquire()));
  }

  void tryFor(Subject subject, Random random) {
    Duration wait = Duration.ofMillis(1 + random.nextInt(300));
    Page page = notebook.ask(subject, Share.EXCLUSIVE, Shape.TRY).within(wait);
    turn(page, random, () -> lock(subject).tryAcquire(wait));
  }

  /** Somebody interrupts this thread while it waits, and only then. */
  void interrupted(Subject subject, Random random, Interrupter interrupter) {
    Page page = notebook.ask(subject, Share.EXCLUSIVE, Shape.INTERRUPTED);
    turn(
        page,
        random,
        () -> {
          interrupter.aim(Thread.currentThread());
          try {
            return Optional.of(lock(subject).acquire());
          } finally {
            interrupter.leave();
          }
        });
    Thread.interrupted(); // one that came with the lease
  }

  void reader(Random random) {
    Page page = notebook.ask(Subject.READ_WRITE, Share.SHARED, Shape.READER).within(WAIT);
    String name = Subject.READ_WRITE.lock();
    turn(page, random, () -> pawl.readWriteLock(name, options).readLock().tryAcquire(WAIT));
  }

  void writer(Random random) {
    Page page = notebook.ask(Subject.READ_WRITE, Share.EXCLUSIVE, Shape.WRITER);
    String name = Subject.READ_WRITE.lock();
    turn(page, random, () -> Optional.of(pawl.readWriteLock(name, options).writeLock().acquire()));
  }

  void permits(Random random) {
    int some = 1 + random.nextInt(2);
    Page page = notebook.ask(Subject.PERMITS, Subject.PERMITS.permits(some), Shape.PERMITS);
    String name = Subject.PERMITS.lock();
    turn(
        page,
        random,
        () -> Optional.of(pawl.semaphore(name, Subject.CAPACITY, options).acquire(some)));
  }

  void group(Random random) {
    List<Subject> subjects = List.of(Subject.GROUP_ONE, Subject.GROUP_TWO);
    List<Page> pages =
        subjects.stream()
            .map(subject -> notebook.ask(subject, Share.EXCLUSIVE, Shape.GROUP).within(WAIT))
            .toList();
    Optional<GroupLease> lease;
    try {
      lease = pawl.lockAll(subjects.stream().map(Subject::lock).toList(), options).tryAcquire(WAIT);
    } catch (InterruptedException | PawlException | IllegalStateException e) {
      lease = Optional.empty();
    }
    if (lease.isEmpty()) {
      pages.forEach(page -> page.ended(End.NOT_GRANTED));
      return;
    }
    GroupLease group = lease.get();
    pages.forEach(page -> page.granted(group.token(page.subject().lock())));
    group.onLost(() -> pages.forEach(Page::told));
    for (Page page : pages) {
      new Visit(referee, page, group::isValid).stay(stay(random));
    }
    long began = System.nanoTime();
    pages.forEach(page -> page.set(Line.CLOSE_BEGAN, began));
    End end = End.RELEASED;
    try {
      group.close();
    } catch (LeaseLostException e) {
      end = End.LOST;
    } catch (PawlException e) {
      end = End.UNCONFIRMED;
    }
    for (Page page : pages) {
      page.ended(end);
    }
  }

  void job(Random random) {
    Page page = notebook.ask(Subject.JOB, Share.EXCLUSIVE, Shape.JOB);
    End end;
    try {
      boolean ran =
          pawl.job(Subject.JOB.lock(), options)
              .maxRun(Duration.ofSeconds(20))
              .run(
                  lease -> {
                    inside(page, lease, stay(random));
                    page.set(Line.CLOSE_BEGAN, System.nanoTime());
                  });
      end = ran ? End.RELEASED : End.NOT_GRANTED;
    } catch (LeaseLostException e) {
      end = page.get(Line.GRANTED) == 0 ? End.NOT_GRANTED : End.LOST;
    } catch (RunTooLongException e) {
      end = End.UNCONFIRMED;
    } catch (PawlException | IllegalStateException e) {
      end = page.get(Line.GRANTED) == 0 ? End.NOT_GRANTED : End.UNCONFIRMED;
    }
    page.ended(end);
    Thread.interrupted(); // of a lost lease, had its body ended at that moment
  }

  /** Stands, and is withdrawn once it has led, or before that. */
  void election(Random random) throws InterruptedException {
    Page page = notebook.ask(Subject.ELECTION, Share.EXCLUSIVE, Shape.ELECTION);
    CountDownLatch led = new CountDownLatch(1);
    long millis = stay(random);
    long patience = random.nextInt(4) == 0 ? SHORT_STAY : LONG_WAIT.toMillis();
    try (Candidacy candidacy =
        pawl.election(Subject.ELECTION.lock(), options)
            .stand(
                "chaos",
                lease -> {
                  lead(page, lease, millis);
                  led.countDown();
                })) {
      led.await(patience, TimeUnit.MILLISECONDS);
      candidacy.close(Duration.ofSeconds(JOIN_SECONDS));
    } catch (PawlException | IllegalStateException e) {
      led.countDown(); // the client is closed
    }
    if (page.get(Line.GRANTED) == 0) {
      page.ended(End.NOT_GRANTED);
    }
  }

  /** Once: who has lost a leadership stands again. */
  private void lead(Page page, Lease lease, long millis) {
    if (page.get(Line.GRANTED) == 0) {
      inside(page, lease, millis);
      Visit.close(page, lease::close);
    }
  }

  /** Futures chained on futures, whose continuations block and ask again. */
  void chain(Subject subject, int links, Random random) throws InterruptedException {
    CompletionStage<Void> chain = CompletableFuture.completedFuture(null);
    for (int link = 0; link < links; link++) {
      long millis = stay(random);
      chain = chain.thenCompose(done -> link(subject, Shape.CHAIN, millis));
    }
    await(chain);
  }

  private static void await(CompletionStage<Void> chain) throws InterruptedException {
    try {
      chain.toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException("a chain of futures failed", e);
    } catch (TimeoutException e) {
      throw new IllegalStateException("a chain of futures did not end", e);
    }
  }

  /** Asks, stays inside and gives back without a thread of its own. */
  CompletionStage<Void> link(Subject subject, Shape shape, long millis) {
    Page page = notebook.ask(subject, Share.EXCLUSIVE, shape).within(LONG_WAIT);
    CompletableFuture<Optional<Lease>> asked;
    try {
      asked = lock(subject).tryAcquireAsync(LONG_WAIT);
    } catch (IllegalStateException e) {
      page.ended(End.NOT_GRANTED); // the client is closed
      return CompletableFuture.completedFuture(null);
    }
    return asked
        .handle((lease, error) -> lease == null ? Optional.<Lease>empty() : lease)
        .thenCompose(lease -> link(page, lease, millis));
  }

  private CompletionStage<Void> link(Page page, Optional<Lease> granted, long millis) {
    if (granted.isEmpty()) {
      page.ended(End.NOT_GRANTED);
      return CompletableFuture.completedFuture(null);
    }
    Lease lease = granted.get();
    inside(page, lease, millis);
    page.set(Line.CLOSE_BEGAN, System.nanoTime());
    return lease
        .closeAsync()
        .handle(
            (done, error) -> {
              Throwable cause = error instanceof CompletionException ? error.getCause() : error;
              boolean isLost = cause instanceof LeaseLostException;
              page.ended(cause == null ? End.RELEASED : isLost ? End.LOST : End.UNCONFIRMED);
              return null;
            });
  }

  /** A take under an id of its own; what nobody is told is asked for when the run is over. */
  void take(TakeNotes takes, Counted counted, Random random) throws InterruptedException {
    long amount = 1 + random.nextInt(3);
    int number = takes.ask(counted.ordinal(), amount);
    try {
      takes.told(number, pawl.counter(counted.counter()).tryTake(amount, takes.id(number)));
    } catch (OutcomeUnknownException e) {
      Thread.sleep(REST_AFTER_FAILURE_MILLIS);
    } catch (StoreException e) {
      takes.end(number, Outcome.UNCHANGED);
      Thread.sleep(REST_AFTER_FAILURE_MILLIS);
    }
  }
}
