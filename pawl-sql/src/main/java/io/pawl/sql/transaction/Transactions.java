package io.pawl.sql.transaction;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import java.sql.SQLException;
import java.util.Collection;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Transactions on one connection, one at a time. One that meets a conflict is repeated as a whole,
 * from fresh rows. Used by one thread at a time.
 */
public final class Transactions implements AutoCloseable {

  private static final long PATIENCE_NANOS = 5_000_000_000L;

  /** A failure as quick as this was a connection found dead, not a server that is silent. */
  private static final long AT_ONCE_NANOS = 1_000_000_000L;

  /** After so long without one the session is told that it lies idle. */
  private static final long REST_NANOS = 1_000_000_000L;

  /** For so long the application's connection is kept from others while somebody asks. */
  private static final long LONGEST_LOAN_NANOS = 200_000_000L;

  private static final long SHORTEST_PAUSE_NANOS = 100_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000;

  private static final Logger log = LoggerFactory.getLogger(Transactions.class);

  /** What is done in a transaction. */
  public interface Work<T> {
    T runAndCommit(Session session) throws SQLException;
  }

  /** Whether something may have been applied in a try that failed. Used by one thread at a time. */
  public static final class Doubt {

    private boolean any;

    public Doubt() {}

    /**
     * Also whether something may have been, in a try before one of {@code requests} was put off.
     */
    public Doubt(Collection<? extends Pending<?>> requests) {
      any = requests.stream().anyMatch(Pending::isInDoubt);
    }

    /** Whether something may have been applied. */
    public boolean isThere() {
      return any;
    }

    private void add(@Nullable Session failed) {
      any |= failed != null && !failed.hasChangedNothing();
    }

    /** A try has committed part of what it is about. */
    public void addPart() {
      any = true;
    }

    /** {@code request} is put off, and so is what is not known of it. */
    public void staysWith(Pending<?> request) {
      if (any) {
        request.leaveInDoubt();
      }
    }

    /** As {@link #kept}, of what a decision has thrown; what is no failure of the store stays. */
    public RuntimeException told(RuntimeException thrown) {
      return thrown instanceof StoreException failure ? kept(failure) : thrown;
    }

    /** {@code failure}, unless it says of a try that nothing was applied, and one may have been. */
    private StoreException kept(StoreException failure) {
      boolean tells = failure instanceof StoreUnavailableException known && !known.isUnsent();
      return !any || tells
          ? failure
          : new StoreUnavailableException(
              failure.getMessage() + "; a try before it may have been applied", failure);
    }
  }

  private final Database database;
  private final Tally tally;
  private final @Nullable Later later;
  private volatile boolean restDue;
  private volatile boolean closed;
  private long lastStartedAt;
  private long lentAt;

  /** Of the thread that is at work; others only {@link #cut} it. */
  private volatile @Nullable Session session;

  public Transactions(Database database, Tally tally) {
    this.database = database;
    this.tally = tally;
    this.later = null;
  }

  /**
   * @param whenRestIsDue has {@link #rest} called, a while after it was; must not block. By default
   *     there is no such while
   * @param threadName of the thread on which it is called
   */
  public Transactions(Database database, Tally tally, Runnable whenRestIsDue, String threadName) {
    this.database = database;
    this.tally = tally;
    this.later =
        new Later(
            () -> {
              restDue = true;
              whenRestIsDue.run();
            },
            threadName);
  }

  /**
   * Runs {@code work} in a transaction of its own, again where it met a conflict, and again where a
   * connection turns out to have been lost while it lay idle.
   */
  public <T> T run(Work<T> work) {
    return run(work, new Doubt());
  }

  /**
   * As {@link #run(Work)}.
   *
   * @param doubt of what is done again in {@code work}
   */
  public <T> T run(Work<T> work, Doubt doubt) {
    long startedAt = System.nanoTime();
    lastStartedAt = startedAt;
    Semaphore turn = database.dialect().turn();
    // without a turn after 5 s the file will be found busy
    boolean ours = turn == null || Uninterruptibly.tryAcquire(turn, PATIENCE_NANOS);
    try {
      return run(work, doubt, startedAt);
    } finally {
      if (turn != null && ours) {
        turn.release();
      }
    }
  }

  private <T> T run(Work<T> work, Doubt doubt, long startedAt) {
    while (true) {
      boolean kept = session != null;
      long triedAt = System.nanoTime();
      try {
        Session open = session();
        open.begin();
        return work.runAndCommit(open);
      } catch (SQLException e) {
        boolean unsent = session == null || !session.hasWritten();
        Dialect.Failure failure = database.classify(e);
        boolean undone = failure == Dialect.Failure.CONFLICT || failure == Dialect.Failure.BLOCKED;
        boolean doubtful = doubt.any;
        if (!undone) {
          doubt.add(session);
        }
        StoreException told = database.explain(e, !doubt.any);
        told = doubtful ? doubt.kept(told) : told;
        if (undone || failure == Dialect.Failure.INTERRUPTED) {
          rollBack();
          if (closed || System.nanoTime() - startedAt >= PATIENCE_NANOS) {
            throw told;
          }
          tally.repeats();
          LockSupport.parkNanos(
              ThreadLocalRandom.current().nextLong(SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS));
          continue;
        }
        evict();
        boolean atOnce = System.nanoTime() - triedAt < AT_ONCE_NANOS;
        if (failure != Dialect.Failure.UNAVAILABLE || !kept || !unsent || !atOnce) {
          throw told;
        }
        tally.repeats();
      } catch (StoreUnavailableException e) { // the store is closed
        rollBack();
        throw doubt.kept(e);
      } catch (StoreException e) {
        rollBack();
        throw e;
      } catch (RuntimeException | Error e) {
        // of the stack, of memory, of a driver: somebody waits for an answer, and what is left of a
        // trip may be taken for the next one's
        doubt.add(session);
        evict();
        String failed = e instanceof Error ? ": the JVM failed: " : ": the driver failed: ";
        String what = database.describe() + failed + e;
        throw doubt.any
            ? new StoreUnavailableException(what + "; the outcome is unknown", e)
            : new StoreException(what, e);
      }
    }
  }

  private Session session() throws SQLException {
    Session open = session;
    if (open == null) {
      if (closed) {
        throw StoreUnavailableException.unsent(database.describe() + ": the store is closed", null);
      }
      open = new Session(database);
      session = open;
      lentAt = System.nanoTime();
    }
    return open;
  }

  private void rollBack() {
    Session open = session;
    if (open == null) {
      return;
    }
    try {
      open.rollBack();
    } catch (SQLException | RuntimeException | Error e) {
      log.debug("rolling back failed, the connection is given up", e);
      evict();
    }
  }

  /** The connection has failed: nobody uses it again. */
  private void evict() {
    Session open = session;
    session = null;
    if (open != null) {
      open.evict();
    }
  }

  /**
   * What arrived together is decided: as {@link #rest} where nobody asks any more, and where the
   * application's connection was kept for so long that others may be waiting for it.
   *
   * @param somebodyAsks whether more is to be decided at once
   */
  public void turnEnds(boolean somebodyAsks) {
    if (!somebodyAsks || isLentForLong()) {
      rest();
    }
  }

  private boolean isLentForLong() {
    return session != null
        && !database.connections().areOurs()
        && System.nanoTime() - lentAt >= LONGEST_LOAN_NANOS;
  }

  /**
   * Nobody asks any more: the application's connection goes back, and so does any that came when
   * {@link #close} had no more patience. Ours is told, where it has to be, but not between two
   * transactions that follow each other soon.
   */
  public void rest() {
    restDue = false;
    Session open = session;
    if (closed || !database.connections().areOurs()) {
      close();
    } else if (open != null && open.isHurried()) {
      long left = lastStartedAt + REST_NANOS - System.nanoTime();
      if (later == null || left <= 0) {
        rest(open);
      } else {
        later.tell(left);
      }
    }
  }

  /** Whether {@link #rest} is to be called. */
  public boolean isRestDue() {
    return restDue;
  }

  private void rest(Session open) {
    try {
      open.rest();
    } catch (SQLException | RuntimeException | Error e) {
      log.debug("a session that lies idle cannot be told so, and is given up", e);
      evict();
    }
  }

  /** No new connection from now on, and no repetition. */
  public void refuseMore() {
    closed = true;
    if (later != null) {
      later.close();
    }
  }

  /** Ends the connection of a transaction under way, from any thread: nothing more is committed. */
  public void cut() {
    Session open = session;
    if (open != null) {
      open.cut();
    }
  }

  /** Closes our connection, or gives back the application's. */
  @Override
  public void close() {
    Session open = session;
    session = null;
    if (open != null) {
      open.close();
    }
  }
}
