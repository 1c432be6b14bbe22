package io.pawl.sql;

import io.pawl.sql.CounterGuesses.Guess;
import io.pawl.sql.CounterPage.Search;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Turns operations on counters that arrive together into one short transaction: it takes the
 * counters' rows in the order of names, applies the rule to all in turn, writes a line for each,
 * commits once. {@link Turns} says who does it.
 *
 * <p>An id that is known has a line, and its key refuses a second one: then the transaction is
 * repeated and the ids are looked up in the ledgers. Looking first costs a quarter of a batch, so
 * that is done where it is free of trips, where the decision may write no line, and for a while
 * after an id was known.
 *
 * <p>A counter that is hot needs no reading either ({@link CounterGuesses}): then a second
 * transaction enters the next batch's lines while the first one still commits, and only its change
 * of the row waits for that. On connections of our own only.
 *
 * <p>Round trips: 2, {@code lock; look up} and {@code write; COMMIT}, or {@code write} and {@code
 * COMMIT} by a guess; 1 more for each counter that has open reservations. Counters never seen
 * before cost 3 more, once.
 */
final class CounterCombiner implements AutoCloseable {

  /** How many counters a batch names at most, each as often as it is named. */
  private static final int MAX_BATCH = 500;

  /** For how many batches the ids are looked up once one was known. */
  private static final int WARY_BATCHES = 64;

  /** Operations to be done together, and what a guess makes of them. */
  private record Batch(List<Posting<?>> postings, @Nullable Guess guess) {}

  private final Database database;
  private final CounterTables tables;
  private final ConcurrentLinkedDeque<Posting<?>> queue = new ConcurrentLinkedDeque<>();
  private final BlockedRows<Posting<?>> blockedRows; // of whoever is at work in the first lane
  private final Lane first;
  private final Lane second;
  private volatile boolean closed;

  /** Guards what follows, and the taking from the queue. */
  private final ReentrantLock decisions = new ReentrantLock();

  private final CounterGuesses guesses = new CounterGuesses();
  private int wary;

  /**
   * Which lane writes: from taking a batch to the change of its rows, so that guesses reach the
   * database in the order of their decisions; while it commits, the other may write.
   */
  private final Semaphore writing = new Semaphore(1);

  /** A connection, and who is at work on it. */
  private record Lane(Transactions transactions, Turns turns) {}

  CounterCombiner(Database database, String threadName) {
    this.database = database;
    this.tables = new CounterTables(database.dialect());
    this.blockedRows = new BlockedRows<>(database, "counter", CounterTables.COUNTER);
    this.first =
        new Lane(
            new Transactions(database),
            new Turns(this::hasWork, this::work, this::pauseWhereOnlyBlockedRowsWait, threadName));
    this.second =
        new Lane(
            new Transactions(database),
            new Turns(this::mayGuess, this::guess, () -> {}, threadName + "-2"));
  }

  /** Does {@code posting}, on this thread if nobody is at work. */
  <T> CompletableFuture<T> submit(Posting<T> posting) {
    queue.add(posting);
    if (!first.turns.take() && database.connections().areOurs()) {
      second.turns.take();
    }
    return posting.answer();
  }

  private boolean hasWork() {
    return !queue.isEmpty() || !blockedRows.isEmpty();
  }

  private void pauseWhereOnlyBlockedRowsWait() {
    if (queue.isEmpty() && !closed) {
      LockSupport.parkNanos(BlockedRows.PAUSE_NANOS);
    }
  }

  /** Whether the second lane may have work. */
  private boolean mayGuess() {
    Posting<?> next = queue.peek();
    return next != null && writing.availablePermits() > 0 && decided(() -> guesses.mayServe(next));
  }

  /** A turn of the first lane, which does whatever there is. */
  private void work() {
    writing.acquireUninterruptibly();
    WritersTurn turn = new WritersTurn();
    try {
      Batch batch = decided(() -> nextBatch(putOffBefore()));
      if (!batch.postings.isEmpty() && !tryGuess(first, batch, turn)) {
        read(batch.postings);
      }
    } finally {
      turn.end();
    }
    if (queue.isEmpty()) {
      first.transactions.rest();
    }
  }

  /** A turn of the second lane, which leaves to the first what it cannot do by a guess. */
  private void guess() {
    if (!mayGuess() || !writing.tryAcquire()) {
      return;
    }
    WritersTurn turn = new WritersTurn();
    boolean done;
    try {
      Batch batch = decided(() -> nextBatch(new ArrayList<>()));
      done = tryGuess(second, batch, turn);
      if (!done) {
        for (int i = batch.postings.size() - 1; i >= 0; i--) {
          queue.addFirst(batch.postings.get(i));
        }
      }
    } finally {
      turn.end();
    }
    if (!done) {
      first.turns.take();
    }
  }

  /** The right to write, given up once. */
  private final class WritersTurn {

    private boolean ended;

    void end() {
      if (!ended) {
        ended = true;
        writing.release();
      }
    }

    /** Our rows are changed, and whoever changes them next waits for our commit. */
    void endAtCommit() {
      end();
      if (database.connections().areOurs()) {
        second.turns.wake();
      }
    }
  }

  private <T extends @Nullable Object> T decided(Supplier<T> step) {
    decisions.lock();
    try {
      return step.get();
    } finally {
      decisions.unlock();
    }
  }

  /** What was put off, if it is time to look again, or if more about the same rows has come. */
  private List<Posting<?>> putOffBefore() {
    boolean all =
        closed || (!blockedRows.isEmpty() && queue.stream().anyMatch(blockedRows::concern));
    return all ? blockedRows.takeAll() : blockedRows.takeDue();
  }

  private Batch nextBatch(List<Posting<?>> batch) {
    int counters = 0;
    for (Posting<?> next = queue.peek(); next != null; next = queue.peek()) {
      counters += next.names().size();
      if (counters > MAX_BATCH && !batch.isEmpty()) {
        break;
      }
      batch.add(queue.remove());
    }
    Guess guess =
        database.dialect().hasShortcuts()
            ? guesses.decide(batch, wary > 0, System.nanoTime())
            : null;
    if (guess == null) {
      batch.forEach(posting -> guesses.forget(posting.names()));
    }
    return new Batch(batch, guess);
  }

  /** Whether {@code batch} was done by its guess, or failed. */
  private boolean tryGuess(Lane lane, Batch batch, WritersTurn turn) {
    Guess guess = batch.guess;
    if (guess == null) {
      return false;
    }
    boolean right;
    try {
      right = lane.transactions.run(new GuessedWork(guess, turn));
    } catch (RuntimeException e) {
      decided(() -> guesses.wasWrong(guess));
      batch.postings.forEach(posting -> posting.failed(e));
      return true;
    }
    if (right) {
      batch.postings.forEach(Posting::committed);
    } else {
      decided(() -> guesses.wasWrong(guess));
    }
    return right;
  }

  private void read(List<Posting<?>> batch) {
    ReadWork work = new ReadWork(batch);
    CounterPage page;
    try {
      do {
        page = first.transactions.run(work);
      } while (!page.isDecided());
    } catch (RuntimeException e) {
      batch.forEach(posting -> posting.failed(e));
      return;
    }
    CounterPage committed = page;
    decided(() -> guesses.wasRead(committed));
    for (Posting<?> posting : batch) {
      if (posting.isPutOff()) {
        blockedRows.putOff(posting);
      } else {
        posting.committed();
      }
    }
  }

  /** The transaction of a batch that was decided by a guess: one try. */
  private final class GuessedWork implements Transactions.Work<Boolean> {

    private final Guess guess;
    private final WritersTurn turn;
    private boolean tried;

    GuessedWork(Guess guess, WritersTurn turn) {
      this.guess = guess;
      this.turn = turn;
    }

    @Override
    public Boolean runAndCommit(Session session) throws SQLException {
      boolean again = tried;
      tried = true;
      return !again
          && session.commitIfLastChanges(
              guess.changes().writesIfStill(guess.before(), tables, session), turn::endAtCommit);
    }
  }

  /** The transaction of one batch, as often as it takes. */
  private final class ReadWork implements Transactions.Work<CounterPage> {

    private final List<Posting<?>> batch;
    private boolean tried;

    ReadWork(List<Posting<?>> batch) {
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
      Search search = decided(this::search);
      tried = true;
      CounterPage page = read(session, search);
      page.loadDue(session, tables);
      page.decide(batch);
      session.commitAll(page.changes().writes(tables, session));
      return page;
    }

    private CounterPage read(Session session, Search search) throws SQLException {
      Set<String> names = new TreeSet<>();
      batch.forEach(posting -> names.addAll(posting.names()));
      Set<String> suspects = blockedRows.suspectsAmong(names);
      try {
        CounterPage read = CounterPage.read(session, tables, batch, search, suspects);
        suspects.removeAll(read.blocked());
        blockedRows.areFree(suspects);
        return read;
      } catch (SQLException e) {
        if (database.classify(e) == Dialect.Failure.BLOCKED) {
          blockedRows.suspect(batch);
        }
        throw e;
      }
    }
  }

  /** Lets the transactions under way finish, fails what is queued, closes the connections. */
  @Override
  public void close() {
    closed = true;
    first.transactions.refuseMore();
    second.transactions.refuseMore();
    second.turns.close(second.transactions::close);
    first.turns.close(first.transactions::close);
  }
}
