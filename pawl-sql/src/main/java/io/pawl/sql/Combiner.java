package io.pawl.sql;

import io.pawl.StoreUnavailableException;
import io.pawl.spi.LockState;
import io.pawl.spi.LockState.Grant;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns requests that arrive together into one short transaction: it takes their rows in the order
 * of names, applies the grant rule to all, writes what changed, commits once.
 *
 * <p>The first request never waits for company: if nobody is at work, its own thread does the work,
 * for one batch. Whatever arrived meanwhile is the next batch, on the combiner's own thread, until
 * nothing is left. So a lone caller pays no hand-over between threads, and sixty-four callers share
 * a commit.
 *
 * <p>A transaction that meets a conflict is repeated as a whole, from fresh rows.
 */
final class Combiner implements AutoCloseable {

  static final int MAX_BATCH = 500;

  private static final long PATIENCE_NANOS = 5_000_000_000L;

  /** A failure as quick as this was a connection found dead, not a server that is silent. */
  private static final long AT_ONCE_NANOS = 1_000_000_000L;

  private static final long SHORTEST_PAUSE_NANOS = 100_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000;

  private static final Logger log = LoggerFactory.getLogger(Combiner.class);

  private final Database database;
  private final Waiters waiters;
  private final ConcurrentLinkedQueue<Request<?>> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean atWork = new AtomicBoolean();

  private final Shortcuts shortcuts = new Shortcuts();
  private final BlockedRows blockedRows = new BlockedRows();
  private final ThreadPoolExecutor ownThread;
  private volatile boolean closed;
  private @Nullable Session session;

  /**
   * @param waiters told of claims granted from the line, after their transaction has committed
   */
  Combiner(Database database, Waiters waiters, String threadName) {
    this.database = database;
    this.waiters = waiters;
    this.ownThread = OwnThread.named(threadName);
  }

  /** Connects and prepares the tables; throws what is wrong. */
  void open() {
    try {
      inTransaction(
          session -> {
            database.dialect().prepare(session.connection());
            session.commit();
            return true;
          });
    } finally {
      returnBorrowed();
    }
  }

  /** Decides {@code request}, on this thread if nobody is at work. */
  <T> CompletableFuture<T> submit(Request<T> request) {
    queue.add(request);
    if (atWork.compareAndSet(false, true)) {
      workFirst();
    }
    return request.answer();
  }

  /** Decides what {@code calls} submits in one batch, on this thread if nobody is at work. */
  void together(Runnable calls) {
    if (!atWork.compareAndSet(false, true)) {
      calls.run();
      return;
    }
    try {
      calls.run();
    } finally {
      workFirst();
    }
  }

  /** This thread is at work: does one batch, and has the rest done. */
  private void workFirst() {
    workUninterrupted();
    if (hasWork() && ownThread.getQueue().isEmpty()) {
      ownThread.execute(this::workUntilDone);
    }
  }

  /** Pools refuse a thread that is interrupted, and what is lent to us must be given back. */
  private void workUninterrupted() {
    boolean interrupted = Thread.interrupted();
    try {
      workOnce();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private boolean hasWork() {
    return !queue.isEmpty() || !blockedRows.isEmpty();
  }

  private void workUntilDone() {
    while (hasWork()) {
      if (queue.isEmpty() && !closed) {
        LockSupport.parkNanos(BlockedRows.PAUSE_NANOS);
      }
      if (!atWork.compareAndSet(false, true)) {
        return; // whoever is at work calls again
      }
      workOnce();
    }
  }

  private void workOnce() {
    try {
      List<Request<?>> batch = nextBatch();
      if (!batch.isEmpty()) {
        work(batch);
      }
      if (queue.isEmpty()) {
        returnBorrowed();
      }
    } finally {
      atWork.set(false);
    }
  }

  private List<Request<?>> nextBatch() {
    List<Request<?>> batch = closed ? blockedRows.takeAll() : blockedRows.takeDue();
    int rows = 0;
    for (Request<?> next = queue.peek();
        next != null && (batch.isEmpty() || rows + next.locks().size() <= MAX_BATCH);
        next = queue.peek()) {
      batch.add(queue.remove());
      rows += next.locks().size();
    }
    if (!blockedRows.isEmpty() && batch.stream().anyMatch(blockedRows::concern)) {
      batch.addAll(0, blockedRows.takeAll()); // in their order
    }
    return batch;
  }

  private void work(List<Request<?>> batch) {
    List<Grant> granted;
    try {
      granted = inTransaction(session -> decide(session, batch));
    } catch (RuntimeException e) {
      batch.forEach(request -> request.failed(e));
      return;
    }
    for (Request<?> request : batch) {
      if (request.isPutOff()) {
        blockedRows.putOff(request, database);
      } else {
        request.committed();
      }
    }
    waiters.ring(granted);
  }

  private List<Grant> decide(Session session, List<Request<?>> batch) throws SQLException {
    try {
      return decideByShortcut(session, batch) ? List.of() : decideAll(session, batch);
    } catch (SQLException e) {
      if (database.classify(e) == Dialect.Failure.BLOCKED) {
        blockedRows.suspect(batch);
      }
      throw e;
    }
  }

  /** Where all locks of the batch are probably as we left them. */
  private boolean decideByShortcut(Session session, List<Request<?>> batch) throws SQLException {
    boolean may = session.hasShortcuts() && batch.stream().noneMatch(blockedRows::concern);
    Shortcuts.Plan plan = may ? shortcuts.plan(batch) : null;
    if (plan == null) {
      return false;
    }
    shortcuts.forget(plan);
    if (!session.tryShortcuts(plan.locks())) {
      return false;
    }
    plan.decide();
    plan.locks().forEach(done -> shortcuts.remember(done.lock(), done.known()));
    return true;
  }

  private List<Grant> decideAll(Session session, List<Request<?>> batch) throws SQLException {
    TreeMap<String, Row> before = new TreeMap<>();
    batch.forEach(request -> request.locks().forEach(lock -> before.put(lock, Row.unknown(lock))));
    Set<String> suspects = blockedRows.suspectsAmong(before.keySet());
    Session.Locked locked = session.lock(before.keySet(), suspects);
    suspects.removeAll(locked.blocked());
    blockedRows.areFree(suspects);
    before.putAll(locked.rows());
    before.keySet().removeAll(locked.blocked());
    long now = locked.now();
    TreeMap<String, LockState> states = new TreeMap<>();
    before.forEach((lock, row) -> states.put(lock, row.state(now)));
    for (Request<?> request : batch) {
      if (!locked.blocked().isEmpty() && request.locks().stream().noneMatch(states::containsKey)) {
        request.putOff();
      } else {
        request.decideWithin(states, now);
      }
    }
    List<Grant> granted = new ArrayList<>();
    List<Row> changed = new ArrayList<>();
    for (LockState state : states.values()) {
      granted.addAll(state.takeGrants());
      Row after = Row.of(state);
      if (after.differsFrom(before.get(state.lock()))) {
        changed.add(after);
      }
    }
    List<Grant> foreign = granted.stream().filter(grant -> !waiters.know(grant.id())).toList();
    if (!foreign.isEmpty()) {
      database.dialect().announce(session.connection(), foreign);
    }
    session.commit(changed);
    if (session.hasShortcuts()) {
      states.forEach((lock, state) -> shortcuts.remember(lock, Shortcut.know(state)));
    }
    return granted;
  }

  private interface Work<T> {
    T runAndCommit(Session session) throws SQLException;
  }

  /**
   * Runs {@code work} in a transaction of its own, again where it met a conflict, and again where a
   * connection turns out to have been lost while it lay idle.
   */
  private <T> T inTransaction(Work<T> work) {
    long startedAt = System.nanoTime();
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
        if (failure == Dialect.Failure.CONFLICT || failure == Dialect.Failure.BLOCKED) {
          rollBack();
          if (closed || System.nanoTime() - startedAt >= PATIENCE_NANOS) {
            throw database.explain(e);
          }
          LockSupport.parkNanos(
              ThreadLocalRandom.current().nextLong(SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS));
          continue;
        }
        evict();
        boolean atOnce = System.nanoTime() - triedAt < AT_ONCE_NANOS;
        if (failure != Dialect.Failure.UNAVAILABLE || !kept || !unsent || !atOnce) {
          throw database.explain(e);
        }
      } catch (RuntimeException e) {
        rollBack();
        throw e;
      }
    }
  }

  private Session session() throws SQLException {
    Session open = session;
    if (open == null) {
      if (closed) {
        throw new StoreUnavailableException(database.describe() + ": the store is closed");
      }
      open = new Session(database);
      session = open;
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
    } catch (SQLException e) {
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

  private void returnBorrowed() {
    if (!database.connections().areOurs()) {
      disconnect();
    }
  }

  private void disconnect() {
    Session open = session;
    session = null;
    if (open != null) {
      open.close();
    }
  }

  /** Lets the transaction under way finish, fails what is queued, closes the connection. */
  @Override
  public void close() {
    closed = true;
    long giveUpAt = System.nanoTime() + PATIENCE_NANOS;
    while (!atWork.compareAndSet(false, true) && System.nanoTime() - giveUpAt < 0) {
      LockSupport.parkNanos(SHORTEST_PAUSE_NANOS);
    }
    disconnect();
    atWork.set(false);
    workUntilDone();
    ownThread.shutdown();
  }
}
