package io.pawl.sql;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Turns operations on counters that arrive together into one short transaction: it takes the
 * counters' rows in the order of names, applies the rule to all in the order of arrival, writes a
 * line for each, commits once. {@link Turns} says who does it.
 *
 * <p>An id that is known has a line, and its key refuses a second one: then the transaction is
 * repeated and the ids are looked up in the ledgers. Looking first costs a quarter of a batch, so
 * that is done where it is free of trips, where the decision may write no line, and for a while
 * after an id was known.
 *
 * <p>Round trips: 2, {@code lock; look up} and {@code write; COMMIT}; 1 more for each counter that
 * has open reservations. Counters never seen before cost 3 more, once.
 */
final class CounterCombiner implements AutoCloseable {

  /** How many counters a batch names at most, each as often as it is named. */
  private static final int MAX_BATCH = 500;

  /** For how many batches the ids are looked up once one was known. */
  private static final int WARY_BATCHES = 64;

  private final Database database;
  private final Transactions transactions;
  private final CounterTables tables;
  private final ConcurrentLinkedQueue<Posting<?>> queue = new ConcurrentLinkedQueue<>();
  private final Turns turns;
  private int wary; // of whoever is at work

  CounterCombiner(Database database, String threadName) {
    this.database = database;
    this.transactions = new Transactions(database);
    this.tables = new CounterTables(database.dialect());
    this.turns = new Turns(() -> !queue.isEmpty(), this::turn, () -> {}, threadName);
  }

  /** Does {@code posting}, on this thread if nobody is at work. */
  <T> CompletableFuture<T> submit(Posting<T> posting) {
    queue.add(posting);
    turns.take();
    return posting.answer();
  }

  private void turn() {
    List<Posting<?>> batch = nextBatch();
    if (!batch.isEmpty()) {
      work(batch);
    }
    if (queue.isEmpty()) {
      transactions.rest();
    }
  }

  private List<Posting<?>> nextBatch() {
    List<Posting<?>> batch = new ArrayList<>();
    int counters = 0;
    for (Posting<?> next = queue.peek();
        next != null && (batch.isEmpty() || counters + next.counters().size() <= MAX_BATCH);
        next = queue.peek()) {
      batch.add(queue.remove());
      counters += next.counters().size();
    }
    return batch;
  }

  private void work(List<Posting<?>> batch) {
    try {
      Attempt attempt = new Attempt(batch);
      boolean done = false;
      while (!done) {
        done = transactions.run(attempt);
      }
    } catch (RuntimeException e) {
      batch.forEach(posting -> posting.failed(e));
      return;
    }
    batch.forEach(Posting::committed);
  }

  /** The transaction of one batch, as often as it takes. */
  private final class Attempt implements Transactions.Work<Boolean> {

    private final List<Posting<?>> batch;
    private boolean first = true;

    Attempt(List<Posting<?>> batch) {
      this.batch = batch;
    }

    private CounterPage.Search search() {
      if (!first) {
        wary = WARY_BATCHES;
        return CounterPage.Search.ALL;
      }
      if (wary > 0) {
        wary--;
        return CounterPage.Search.LIKELY;
      }
      return database.dialect().hasShortcuts()
          ? CounterPage.Search.NEEDED
          : CounterPage.Search.LIKELY;
    }

    /** Answers false where so many reservations were due that returning them was all it did. */
    @Override
    public Boolean runAndCommit(Session session) throws SQLException {
      CounterPage page = CounterPage.read(session, tables, batch, search());
      first = false;
      boolean settled = page.loadDue();
      if (settled) {
        for (Posting<?> posting : batch) {
          page.decide(posting);
        }
      } else {
        page.settle();
      }
      session.commitAll(page.writes());
      return settled;
    }
  }

  @Override
  public void close() {
    transactions.refuseMore();
    turns.close(transactions::close);
  }
}
