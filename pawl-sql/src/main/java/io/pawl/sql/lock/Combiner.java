package io.pawl.sql.lock;

import io.pawl.error.NameInUseException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.ClaimId;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import io.pawl.spi.rule.LockState.Grant;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Table;
import io.pawl.sql.transaction.BlockedRows;
import io.pawl.sql.transaction.DrainLoop;
import io.pawl.sql.transaction.Session;
import io.pawl.sql.transaction.Tally;
import io.pawl.sql.transaction.Transactions;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
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
public final class Combiner implements AutoCloseable {

  public static final int MAX_BATCH = Dialect.MAX_ROWS;

  private static final Logger log = LoggerFactory.getLogger(Combiner.class);

  private final Database database;
  private final WaitingClaims waiters;
  private final ConcurrentLinkedQueue<Request<?>> queue = new ConcurrentLinkedQueue<>();
  private final Shortcuts shortcuts = new Shortcuts();
  private final BlockedRows<Request<?>> blockedRows;
  private final Transactions transactions;
  private final DrainLoop drain;
  private final Tally tally = new Tally();
  private volatile boolean closed;

  /**
   * @param waiters told of claims granted from the queue, after their transaction has committed
   */
  public Combiner(Database database, WaitingClaims waiters, String threadName) {
    this.database = database;
    this.waiters = waiters;
    this.blockedRows =
        new BlockedRows<>(
            database, "lock", Table.LOCK, "pawl_lock or pawl_waiter", tally, threadName + "-row");
    this.transactions = new Transactions(database, tally, this::restIsDue, threadName + "-rest");
    this.drain =
        new DrainLoop(
            this::hasWork,
            this::turn,
            this::pauseWhereOnlyBlockedRowsWait,
            database.connections().areOurs(),
            threadName);
    waiters.freeLocksServedBy(this::serve);
    waiters.grantsKeptBy(this::keep);
  }

  /** Connects and prepares the tables; throws what is wrong. */
  public void open() {
    try {
      transactions.run(
          session -> {
            database.dialect().prepare(session.connection());
            session.commit();
            return true;
          });
    } finally {
      transactions.rest();
    }
  }

  /** Decides {@code request}, on this thread if nobody is at work. */
  public <T> CompletableFuture<T> submit(Request<T> request) {
    queue.add(request);
    drain.take();
    return request.answer();
  }

  /** Decides what {@code calls} submits in one batch, on this thread if nobody is at work. */
  public void together(Runnable calls) {
    drain.together(calls);
  }

  public Tally tally() {
    return tally;
  }

  private boolean hasWork() {
    return !queue.isEmpty() || !blockedRows.isEmpty() || transactions.isRestDue();
  }

  private void restIsDue() {
    drain.takeElsewhere();
  }

  private void pauseWhereOnlyBlockedRowsWait() {
    if (queue.isEmpty() && !closed) {
      LockSupport.parkNanos(BlockedRows.PAUSE_NANOS);
    }
  }

  private void turn() {
    List<Request<?>> batch = new ArrayList<>();
    try {
      fill(batch);
      if (!batch.isEmpty()) {
        work(batch);
      }
    } catch (Error e) { // of memory, mostly: those who have no answer yet wait for one
      StoreException failure =
          new StoreUnavailableException(
              database.describe() + ": the JVM failed: " + e + "; the outcome is unknown", e);
      batch.forEach(request -> request.failed(failure));
    }
    transactions.turnEnds(!queue.isEmpty());
  }

  private void fill(List<Request<?>> batch) {
    if (closed) {
      blockedRows.takeAll(batch);
    } else {
      blockedRows.takeDue(batch);
    }
    int rows = 0;
    for (Request<?> next = queue.peek();
        next != null && (batch.isEmpty() || rows + next.names().size() <= MAX_BATCH);
        next = queue.peek()) {
      batch.add(next); // first, so that it is answered though memory is out
      queue.remove();
      rows += next.names().size();
    }
    if (!blockedRows.isEmpty() && batch.stream().anyMatch(blockedRows::concern)) {
      blockedRows.takeAll(batch);
    }
  }

  private void work(List<Request<?>> batch) {
    List<Grant> granted;
    Transactions.Doubt doubt = new Transactions.Doubt(batch);
    try {
      granted = transactions.run(session -> decide(session, batch, doubt), doubt);
    } catch (RuntimeException e) {
      RuntimeException told = doubt.told(e);
      batch.forEach(request -> request.failed(told));
      return;
    }
    tally.decided(batch.stream().filter(each -> !each.isPutOff()).count());
    for (Request<?> request : batch) {
      if (request.isPutOff()) {
        doubt.staysWith(request);
        blockedRows.putOff(request);
      } else {
        request.committed();
      }
    }
    waiters.ring(granted);
  }

  private List<Grant> decide(Session session, List<Request<?>> batch, Transactions.Doubt doubt)
      throws SQLException {
    LockRows rows = new LockRows(session, database.dialect());
    try {
      if (decideByReading(session, rows, batch) || decideByShortcut(rows, batch)) {
        return List.of();
      }
      if (rows.haveChangedSome()) {
        doubt.addPart();
      }
      return decideAll(session, rows, batch);
    } catch (SQLException e) {
      if (database.classify(e) == Dialect.Failure.BLOCKED) {
        blockedRows.suspect(batch);
      }
      throw e;
    }
  }

  /**
   * Where nobody in the batch probably does more than join a queue: one trip, a second where
   * somebody joins, and nobody waits for a lock of a row. What was read was committed, so that it
   * can be told, but for a grant that a crash could still undo; where the rule would change more,
   * all is decided anew.
   *
   * <p>A claim so joins those who wait already: who comes first writes the lock's row too, by which
   * others know that somebody waits. Only an exclusive claim joins like this, which nothing but a
   * free lock could serve.
   */
  private boolean decideByReading(Session session, LockRows rows, List<Request<?>> batch)
      throws SQLException {
    if (!batch.stream().allMatch(request -> request.seldomChanges() || probablyJoins(request))) {
      return false;
    }
    Set<String> names = new TreeSet<>();
    batch.forEach(request -> names.addAll(request.names()));
    LockRows.Locked read = rows.read(names);
    if (!batch.stream().allMatch(request -> request.seldomChanges() || areThere(request, read))) {
      return false; // only a transaction finds the tokens that were granted before it was forgotten
    }
    TreeMap<String, LockState> states = new TreeMap<>();
    for (String name : names) {
      LockState state = known(read, name).glance(read.now());
      if (state == null) {
        return false;
      }
      states.put(name, state);
    }
    if (heldThoughNotKept(batch, states.values()).isPresent()) {
      return false;
    }
    batch.forEach(request -> request.decideWithin(states, read.now(), Map.of()));
    Changes changes = new Changes();
    states.forEach((name, state) -> changes.add(known(read, name), state));
    if (changes.areNone()) {
      session.commit();
      return true;
    }
    if (!changes.areJoins()) {
      return false;
    }
    states.keySet().forEach(lock -> shortcuts.remember(lock, null));
    return rows.tryJoin(changes.joined(), name -> known(read, name).row());
  }

  /** A lock that is held by whom {@code batch} asks for, so far as a crash does not undo it. */
  private Optional<String> heldThoughNotKept(List<Request<?>> batch, Collection<LockState> states) {
    if (!database.dialect().showsBeforeItKeeps()) {
      return Optional.empty();
    }
    Set<ClaimId> asked = new HashSet<>();
    batch.forEach(request -> asked.addAll(request.claims()));
    return states.stream()
        .filter(state -> state.holders().stream().anyMatch(held -> asked.contains(held.id())))
        .map(LockState::lock)
        .findFirst();
  }

  private boolean probablyJoins(Request<?> request) {
    return request.joinsWhereBusy()
        && database.dialect().hasShortcuts()
        && waiters.polls()
        && request.names().stream().allMatch(shortcuts::leftBusy);
  }

  /** A row that nobody has used may hold fewer tokens than were granted. */
  private static boolean areThere(Request<?> request, LockRows.Locked read) {
    return request.names().stream()
        .map(read.locks()::get)
        .allMatch(known -> known != null && !known.row().isUnused());
  }

  /** Somebody waits for {@code lock} though it is free: grants it, soon and on another thread. */
  private void serve(String lock) {
    queue.add(
        Request.about(
            lock,
            (state, now) -> {
              GrantRule.settle(state, now);
              return true;
            }));
    drain.takeElsewhere();
  }

  /** Rings for those of {@code granted} that are still held once a renewal has been committed. */
  private void keep(String lock, Set<ClaimId> granted) {
    Request<List<Grant>> renewal =
        Request.about(
            lock,
            granted,
            (state, now) -> {
              granted.forEach(id -> GrantRule.renew(state, id, now));
              return state.holders().stream()
                  .filter(holder -> granted.contains(holder.id()) && !holder.lingers())
                  .map(state::grantOf)
                  .toList();
            });
    renewal
        .answer()
        .whenComplete(
            (kept, failure) -> {
              if (kept != null) {
                waiters.ring(kept);
              } else {
                log.debug("a grant of lock '{}' was not kept; renewals will tell", lock, failure);
              }
            });
    queue.add(renewal);
    drain.takeElsewhere();
  }

  private static StoredLock known(LockRows.Locked read, String name) {
    StoredLock known = read.locks().get(name);
    return known == null ? StoredLock.alone(Row.unknown(name)) : known;
  }

  /** Where all locks of the batch are probably as we left them. */
  private boolean decideByShortcut(LockRows rows, List<Request<?>> batch) throws SQLException {
    boolean may =
        database.dialect().hasShortcuts() && batch.stream().noneMatch(blockedRows::concern);
    Shortcuts.Plan plan = may ? shortcuts.plan(batch) : null;
    if (plan == null) {
      return false;
    }
    shortcuts.forget(plan);
    if (!rows.tryShortcuts(plan.locks())) {
      return false;
    }
    plan.decide();
    plan.locks().forEach(done -> shortcuts.remember(done.lock(), done.known()));
    return true;
  }

  private List<Grant> decideAll(Session session, LockRows rows, List<Request<?>> batch)
      throws SQLException {
    Set<String> names = new TreeSet<>();
    batch.forEach(request -> names.addAll(request.names()));
    Set<String> suspects = blockedRows.suspectsAmong(names);
    LockRows.Locked locked = rows.lock(names, suspects, shortcuts.unseenAmong(names), blockedRows);
    suspects.removeAll(locked.blocked());
    blockedRows.areFree(suspects);
    names.removeAll(locked.counters());
    names.removeAll(locked.blocked());
    names.removeAll(locked.tokenless());
    long now = locked.now();
    TreeMap<String, LockState> states = new TreeMap<>();
    Map<String, RuntimeException> unusable = new HashMap<>();
    locked.counters().forEach(name -> unusable.put(name, NameInUseException.byCounter(name)));
    locked.tokenless().forEach(name -> unusable.put(name, LockRows.tokensAreLost(database)));
    for (String name : names) {
      try {
        states.put(name, known(locked, name).state(now));
      } catch (StoreException e) {
        unusable.put(name, e);
      }
    }
    for (Request<?> request : batch) {
      if (request.isOnlyAbout(locked.blocked())) {
        request.putOff();
      } else {
        request.decideWithin(states, now, unusable);
      }
    }
    List<Grant> granted = new ArrayList<>();
    Changes changes = new Changes();
    for (LockState state : states.values()) {
      granted.addAll(state.takeGrants());
      changes.add(known(locked, state.lock()), state);
    }
    List<Grant> foreign = granted.stream().filter(grant -> !waiters.know(grant.id())).toList();
    if (!foreign.isEmpty()) {
      database.dialect().announce(session.connection(), foreign);
    }
    Optional<String> held =
        changes.areNone() ? heldThoughNotKept(batch, states.values()) : Optional.empty();
    if (held.isPresent()) {
      rows.keep(held.get());
    } else {
      rows.commit(changes, now);
    }
    if (database.dialect().hasShortcuts()) {
      states.forEach((lock, state) -> shortcuts.remember(lock, Shortcut.know(state)));
    }
    return granted;
  }

  /** Lets the transaction under way finish, fails what is queued, closes the connection. */
  @Override
  public void close() {
    closed = true;
    transactions.refuseMore();
    drain.close(transactions::close, transactions::cut);
    blockedRows.close();
  }
}
