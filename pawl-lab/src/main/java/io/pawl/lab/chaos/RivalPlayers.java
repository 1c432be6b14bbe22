package io.pawl.lab.chaos;

import io.pawl.checker.Share;
import io.pawl.lab.chaos.Notebook.End;
import io.pawl.lab.chaos.Notebook.Line;
import io.pawl.lab.chaos.Notebook.Page;
import io.pawl.lab.chaos.rival.Rival;
import io.pawl.lab.chaos.rival.RivalClient;
import io.pawl.lab.chaos.rival.RivalLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One turn of each shape in which users of another library use its locks, as {@link Players} is for
 * Pawl. A library without fencing tokens gets a ticket of the referee for each grant, which tells
 * stale writes and nothing else.
 */
final class RivalPlayers implements AutoCloseable {

  /** Those that any library can have. */
  static final List<Subject> SUBJECTS = List.of(Subject.DEFAULT, Subject.STRICT, Subject.ASYNC);

  private static final int LONG_ONE_IN = 12;
  private static final int RENEWED_ONE_IN = 40;
  private static final long LONG_STAY = 60;
  private static final long SHORT_STAY = 5;
  private static final Duration OPEN = Duration.ofSeconds(60);
  private static final Duration PROBE = Duration.ofSeconds(10);
  private static final int LEAST_TRIES = 10;
  private static final int REST_MILLIS = 50;

  private final Rival rival;
  private final RivalClient client;
  private final Referee referee;
  private final Notebook notebook;
  private final long leaseMillis;

  private RivalPlayers(
      Rival rival, RivalClient client, Referee referee, Notebook notebook, long leaseMillis) {
    this.rival = rival;
    this.client = client;
    this.referee = referee;
    this.notebook = notebook;
    this.leaseMillis = leaseMillis;
  }

  static RivalPlayers open(
      Rival rival, String address, Referee referee, Notebook notebook, long leaseMillis)
      throws InterruptedException {
    RivalClient client = open(rival, address, leaseMillis);
    return new RivalPlayers(rival, client, referee, notebook, leaseMillis);
  }

  /** The store may be away just now. */
  private static RivalClient open(Rival rival, String address, long leaseMillis)
      throws InterruptedException {
    long giveUpAt = System.nanoTime() + OPEN.toNanos();
    while (true) {
      try {
        return rival.open(address, leaseMillis);
      } catch (RuntimeException e) {
        if (System.nanoTime() - giveUpAt > 0) {
          throw e;
        }
        Thread.sleep(REST_MILLIS);
      }
    }
  }

  private interface Request {
    boolean isGranted(RivalLock lock) throws InterruptedException;
  }

  void acquire(Subject subject, Random random) {
    Page page = notebook.ask(subject, Share.EXCLUSIVE, Shape.ACQUIRE);
    turn(page, random, RivalLock::acquire);
  }

  void tryFor(Subject subject, Random random) {
    long millis = 1 + random.nextInt(300);
    Page page = notebook.ask(subject, Share.EXCLUSIVE, Shape.TRY).within(Duration.ofMillis(millis));
    turn(page, random, lock -> lock.tryFor(millis));
  }

  /** Somebody interrupts this thread while it waits, and only then. */
  void interrupted(Subject subject, Random random, Interrupter interrupter) {
    turn(
        notebook.ask(subject, Share.EXCLUSIVE, Shape.INTERRUPTED),
        random,
        lock -> {
          interrupter.aim(Thread.currentThread());
          try {
            return lock.acquireInterruptibly();
          } finally {
            interrupter.leave();
            Thread.interrupted(); // one that came with the lock
          }
        });
  }

  private void turn(Page page, Random random, Request request) {
    RivalLock lock = client.lock(page.subject().lock());
    boolean isGranted;
    try {
      isGranted = request.isGranted(lock);
    } catch (InterruptedException e) {
      isGranted = false;
    }
    if (!isGranted) {
      page.ended(End.NOT_GRANTED);
      return;
    }
    page.granted(rival.hasTokens() ? lock.token() : referee.ticket(page.subject()));
    new Visit(referee, page, lock::isHeld).stay(stay(random));
    page.set(Line.CLOSE_BEGAN, System.nanoTime());
    page.ended(
        switch (lock.release()) {
          case RELEASED -> End.RELEASED;
          case LOST -> End.LOST;
          case UNCONFIRMED -> End.UNCONFIRMED;
        });
  }

  private long stay(Random random) {
    int roll = random.nextInt(RENEWED_ONE_IN);
    long renewed = rival.longestBodyMillis(leaseMillis);
    long longest = roll == 0 ? renewed : roll % LONG_ONE_IN == 0 ? LONG_STAY : SHORT_STAY;
    return 1 + random.nextInt((int) longest);
  }

  /** Whether each lock can be had now that all who used them are gone. */
  static List<String> probe(Rival rival, String address, long leaseMillis)
      throws InterruptedException {
    List<String> stuck = new ArrayList<>();
    try (RivalClient client = open(rival, address, leaseMillis)) {
      for (Subject subject : SUBJECTS) {
        if (!isFree(client, subject, leaseMillis)) {
          stuck.add(subject.lock() + " was not free " + PROBE + " after the last worker had ended");
        }
      }
    }
    return stuck;
  }

  /** Tries some times at least, whatever the machine does meanwhile. */
  private static boolean isFree(RivalClient client, Subject subject, long leaseMillis)
      throws InterruptedException {
    long giveUpAt = System.nanoTime() + PROBE.toNanos();
    for (int tries = 0; tries < LEAST_TRIES || System.nanoTime() - giveUpAt < 0; tries++) {
      RivalLock lock = client.lock(subject.lock());
      if (lock.tryFor(leaseMillis)) {
        lock.release();
        return true;
      }
      Thread.sleep(REST_MILLIS);
    }
    return false;
  }

  @Override
  public void close() {
    client.close();
  }
}
