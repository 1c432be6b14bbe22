package io.pawl.sql;

import io.pawl.StoreUnavailableException;
import io.pawl.spi.LockState;
import io.pawl.spi.LockState.Entry;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
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
  private static final long SHORTEST_PAUSE_NANOS = 100_000;
  private static final long LONGEST_PAUSE_NANOS = 1_000_000;

  private static final Logger log = LoggerFactory.getLogger(Combiner.class);

  private final Dialect dialect;
  private final Consumer<List<Entry>> ringer;
  private final ConcurrentLinkedQueue<Request<?>> queue = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean atWork = new AtomicBoolean();
  private final ThreadPoolExecutor ownThread;
  private volatile boolean closed;
  private @Nullable Connection connection;
  private @Nullable PreparedStatement select;
  private @Nullable PreparedStatement upsert;

  /**
   * @param ringer told of claims granted from the line, after their transaction has committed
   */
  Combiner(Dialect dialect, Consumer<List<Entry>> ringer, String threadName) {
    this.dialect = dialect;
    this.ringer = ringer;
    this.ownThread = OwnThread.named(threadName);
  }

  /** Connects and prepares the tables; throws what is wrong. */
  void open() {
    inTransaction(
        () -> {
          dialect.prepare(connection());
          return true;
        });
  }

  /** Decides {@code request}, on this thread if nobody is at work. */
  <T> CompletableFuture<T> submit(Request<T> request) {
    queue.add(request);
    if (atWork.compareAndSet(false, true)) {
      workOnce();
      if (!queue.isEmpty()) {
        ownThread.execute(this::workUntilDone);
      }
    }
    return request.answer();
  }

  private void workUntilDone() {
    while (!queue.isEmpty() && atWork.compareAndSet(false, true)) {
      workOnce();
    }
  }

  private void workOnce() {
    try {
      work(nextBatch());
    } finally {
      atWork.set(false);
    }
  }

  private List<Request<?>> nextBatch() {
    List<Request<?>> batch = new ArrayList<>();
    int rows = 0;
    for (Request<?> next = queue.peek();
        next != null && (batch.isEmpty() || rows + next.locks().size() <= MAX_BATCH);
        next = queue.peek()) {
      batch.add(queue.remove());
      rows += next.locks().size();
    }
    return batch;
  }

  private void work(List<Request<?>> batch) {
    List<Entry> granted;
    try {
      granted = inTransaction(() -> decideAll(batch));
    } catch (RuntimeException e) {
      batch.forEach(request -> request.failed(e));
      return;
    }
    batch.forEach(Request::committed);
    ringer.accept(granted);
  }

  private List<Entry> decideAll(List<Request<?>> batch) throws SQLException {
    TreeMap<String, LockState> states = new TreeMap<>();
    TreeMap<String, Row> before = new TreeMap<>();
    batch.forEach(request -> request.locks().forEach(lock -> before.put(lock, Row.unknown(lock))));
    readRows(before);
    long now = dialect.now(connection());
    before.forEach((lock, row) -> states.put(lock, row.state(now)));
    batch.forEach(request -> request.decideWithin(states, now));
    List<Entry> granted = new ArrayList<>();
    List<Row> changed = new ArrayList<>();
    for (LockState state : states.values()) {
      granted.addAll(state.takeGrants());
      Row after = Row.of(state);
      if (!after.equals(before.get(state.lock()))) {
        changed.add(after);
      }
    }
    writeRows(changed);
    return granted;
  }

  private void readRows(SortedMap<String, Row> rows) throws SQLException {
    PreparedStatement statement = select();
    for (Map.Entry<String, Row> entry : rows.entrySet()) {
      statement.setString(1, entry.getKey());
      try (ResultSet result = statement.executeQuery()) {
        if (result.next()) {
          entry.setValue(Row.read(result));
        }
      }
    }
  }

  private void writeRows(List<Row> rows) throws SQLException {
    PreparedStatement statement = upsert();
    for (Row row : rows) {
      row.bind(statement);
      statement.executeUpdate();
    }
  }

  private interface Work<T> {
    T run() throws SQLException;
  }

  /** Runs {@code work} in a transaction of its own, again where it met a conflict. */
  private <T> T inTransaction(Work<T> work) {
    long giveUpAt = System.nanoTime() + PATIENCE_NANOS;
    while (true) {
      boolean begun = false;
      try {
        dialect.begin(connection());
        begun = true;
        T result = work.run();
        dialect.commit(connection());
        return result;
      } catch (SQLException e) {
        rollBack(begun);
        Dialect.Failure failure = dialect.classify(e);
        if (failure != Dialect.Failure.CONFLICT) {
          disconnect();
          throw dialect.explain(e);
        }
        if (closed || System.nanoTime() - giveUpAt >= 0) {
          throw dialect.explain(e);
        }
        LockSupport.parkNanos(
            ThreadLocalRandom.current().nextLong(SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS));
      } catch (RuntimeException e) {
        rollBack(begun);
        throw e;
      }
    }
  }

  private Connection connection() throws SQLException {
    Connection open = connection;
    if (open == null) {
      if (closed) {
        throw new StoreUnavailableException(dialect.describe() + ": the store is closed");
      }
      open = dialect.openWriter();
      connection = open;
    }
    return open;
  }

  private PreparedStatement select() throws SQLException {
    PreparedStatement prepared = select;
    if (prepared == null) {
      prepared = connection().prepareStatement(Row.SELECT + " WHERE name = ?");
      select = prepared;
    }
    return prepared;
  }

  private PreparedStatement upsert() throws SQLException {
    PreparedStatement prepared = upsert;
    if (prepared == null) {
      prepared = connection().prepareStatement(dialect.upsert());
      upsert = prepared;
    }
    return prepared;
  }

  private void rollBack(boolean begun) {
    Connection open = connection;
    if (open == null || !begun) {
      return;
    }
    try {
      dialect.rollBack(open);
    } catch (SQLException e) {
      log.debug("rolling back failed, the connection is given up", e);
      disconnect();
    }
  }

  private void disconnect() {
    Connection open = connection;
    connection = null;
    select = null;
    upsert = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException e) {
        log.debug("closing a connection failed", e);
      }
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
