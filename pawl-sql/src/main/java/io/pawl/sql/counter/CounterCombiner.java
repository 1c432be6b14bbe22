package io.pawl.sql.counter;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.sql.counter.CounterGuesses.Guess;
import io.pawl.sql.counter.CounterPage.Search;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.transaction.BlockedRows;
import io.pawl.sql.transaction.DrainLoop;
import io.pawl.sql.transaction.Session;
import io.pawl.sql.transaction.Tally;
import io.pawl.sql.transaction.Transactions;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Turns operations on counters that arrive together into one short transaction: it takes the
 * counters' rows in the order of names, applies the rule to all in turn, writes a line for each,
 * commits once. {@link DrainLoop} says who does it.
 *
 * <p>An id that is known has a line, and its key refuses a second one: then the transaction is
 * repeated and the ids are looked up in the ledgers. Looking first costs a quarter of a batch, so
 * that is done where it is free of trips, where the decision may write no line, and for a while
 * after an id was known. A counter that is hot needs no reading either ({@link CounterGuesses}).
 *
 * <p>Round trips: 2, {@code lock; look up} and {@code write; COMMIT}, or {@code write} and {@code
 * COMMIT} by a guess; 1 more for each counter that has open reservations. Counters never seen
 * before cost 3 more, once.
 */
public final class CounterCombiner implements AutoCloseable {

  /** How many counters a batch names at most, each as often as it is named. */
  private static final int MAX_BATCH = 500;

  /** For how many batches the ids are looked up once one was known. */
  private static final int WARY_BATCHES = 64;

  private final Database database;
  private final Transactions transactions;
  private final CounterTables tables;
  private final ConcurrentLinkedQueue<PendingOperation<?>> queue = new ConcurrentLinkedQueue<>();
  private final BlockedRows<PendingOperation<?>> blockedRows;
  private final DrainLoop drain;
  private final Tally tally = new Tally();
  private volatile boolean closed;

  // Of whoever is at work:
  private final CounterGuesses guesses = new CounterGuesses();
  private int wary;

  public CounterCombiner(Database database, String threadName) {
    this.database = database;
    this.transactions = new Transactions(database, tally, this::restIsDue, threadName + "-rest");
    this.tables = new CounterTables(database.dialect());
    this.blockedRows =
        new BlockedRows<>(
            database,
            "counter",
            CounterTables.COUNTER,
            CounterTables.COUNTER.name(),
            tally,
            threadName + "-row");
    this.drain =
        new DrainLoop(
            this::hasWork,
            this::turn,
            this::pauseWhereOnlyBlockedRowsWait,
            database.connections().areOurs(),
            threadName);
  }

  /** Does {@code operation}, on this thread if nobody is at work. */
  public <T> CompletableFuture<T> submit(PendingOperation<T> operation) {
    queue.add(operation);
    drain.take();
    return operation.answer();
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
    List<PendingOperation<?>> batch = new ArrayList<>();
    try {
      fill(batch);
      if (!batch.isEmpty()) {
        work(batch, new Transactions.Doubt(batch));
      }
    } catch (Error e) { // of memory, mostly: those who have no answer yet wait for one
      batch.forEach(operation -> guesses.forget(operation.names()));
      StoreException failure =
          new StoreUnavailableException(
              database.describe() + ": the JVM failed: " + e + "; the outcome is unknown", e);
      batch.forEach(operation -> operation.failed(failure));
    }
    transactions.turnEnds(!queue.isEmpty());
  }

  private void fill(List<PendingOperation<?>> batch) {
    if (closed) {
      blockedRows.takeAll(batch);
    } else {
      blockedRows.takeDue(batch);
    }
    int counters = 0;
    for (PendingOperation<?> next = queue.peek();
        next != null && (batch.isEmpty() || counters + next.names().size() <= MAX_BATCH);
        next = queue.peek()) {
      batch.add(next); // first, so that it is answered though memory is out
      queue.remove();
      counters += next.names().size();
    }
    if (!blockedRows.isEmpty() && batch.stream().anyMatch(blockedRows::concern)) {
      blockedRows.takeAll(batch);
    }
  }

  private void work(List<PendingOperation<?>> batch, Transactions.Doubt doubt) {
    try {
      decide(batch, doubt);
    } catch (RuntimeException e) {
      if (e instanceof UnreadableLineException && batch.size() > 1) {
        batch.forEach(operation -> work(List.of(operation), doubt));
        return;
      }
      batch.forEach(operation -> guesses.forget(operation.names()));
      RuntimeException told = doubt.told(e);
      batch.forEach(operation -> operation.failed(told));
      return;
    }
    tally.decided(batch.stream().filter(each -> !each.isPutOff()).count());
    for (PendingOperation<?> operation : batch) {
      if (operation.isPutOff()) {
        doubt.staysWith(operation);
        blockedRows.putOff(operation);
      } else {
        operation.committed();
      }
    }
  }

  /** Without reading where that is possible; commits. */
  private void decide(List<PendingOperation<?>> batch, Transactions.Doubt doubt) {
    ReadWork reading = new ReadWork(batch);
    reading.tried = doubt.isThere();
    boolean may =
        database.dialect().hasShortcuts() && batch.stream().noneMatch(blockedRows::concern);
    Guess guess = may ? guesses.decide(batch, wary > 0, System.nanoTime()) : null;
    if (guess != null) {
      GuessedWork guessed = new GuessedWork(batch, guess);
      if (transactions.run(guessed, doubt)) {
        return;
      }
      guesses.wasWrong(guess);
      reading.tried |= guessed.repeated;
    }
    CounterPage page;
    do {
      page = transactions.run(reading, doubt);
    } while (!page.isDecided());
    guesses.wasRead(page);
  }

  private void suspectIfBlocked(List<PendingOperation<?>> batch, SQLException failure) {
    if (database.classify(failure) == Dialect.Failure.BLOCKED) {
      blockedRows.suspect(batch);
    }
  }

  /** The transaction of a batch that was decided by a guess: one try. */
  private final class GuessedWork implements Transactions.Work<Boolean> {

    private final List<PendingOperation<?>> batch;
    private final Guess guess;
    private boolean tried;

    /** Then the first try may have been applied. */
    private boolean repeated;

    GuessedWork(List<PendingOperation<?>> batch, Guess guess) {
      this.batch = batch;
      this.guess = guess;
    }

    @Override
    public Boolean runAndCommit(Session session) throws SQLException {
      repeated = tried;
      tried = true;
      try {
        return !repeated
            && session.commitIfLastChanges(
                guess.changes().writesIfStill(guess.before(), tables, session));
      } catch (SQLException e) {
        suspectIfBlocked(batch, e);
        throw e;
      }
    }
  }

  /** The transaction of one batch, as often as it takes. */
  private final class ReadWork implements Transactions.Work<CounterPage> {

    private final List<PendingOperation<?>> batch;
    private boolean tried;

    ReadWork(List<PendingOperation<?>> batch) {
      this.batch = batch;
    }

    private Search search() {
      if (tried) {
        wary = WARY_BATCHES;
        return Search.ALL;
      }
      if (wary > 0) {
        wary--;
        return Search.LIKELY;
      }
      return database.dialect().hasShortcuts() ? Search.NEEDED : Search.LIKELY;
    }

    @Override
    public CounterPage runAndCommit(Session session) throws SQLException {
      Search search = search();
      tried = true;
      CounterPage page = read(session, search);
      page.loadDue(session, tables);
      page.decide(batch);
      List<Session.Write> writes = page.changes().writes(tables, session);
      session.commitAll(writes.isEmpty() ? keeping(page) : writes);
      return page;
    }

    /** What was found, and will be told, though a crash of the server could still undo it. */
    private List<Session.Write> keeping(CounterPage page) {
      return database.dialect().showsBeforeItKeeps()
          ? page.toldFrom()
              .map(name -> Session.thereAndBack("UPDATE pawl_counter", "last_line", name))
              .orElse(List.of())
          : List.of();
    }

    private CounterPage read(Session session, Search search) throws SQLException {
      Set<String> names = new TreeSet<>();
      batch.forEach(operation -> names.addAll(operation.names()));
      Set<String> suspects = blockedRows.suspectsAmong(names);
      try {
        CounterPage read = CounterPage.read(session, tables, batch, search, suspects, blockedRows);
        suspects.removeAll(read.blocked());
        blockedRows.areFree(suspects);
        return read;
      } catch (SQLException e) {
        suspectIfBlocked(batch, e);
        throw e;
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    transactions.refuseMore();
    drain.close(transactions::close, transactions::cut);
    blockedRows.close();
  }
}
