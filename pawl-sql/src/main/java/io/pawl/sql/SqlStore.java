package io.pawl.sql;

import io.pawl.concurrent.KeptInterrupts;
import io.pawl.error.NameInUseException;
import io.pawl.error.StoreException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.DurationText;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Maintainable;
import io.pawl.spi.Measured;
import io.pawl.spi.Mode;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.connection.OwnThread;
import io.pawl.sql.counter.CounterCombiner;
import io.pawl.sql.counter.CounterTables;
import io.pawl.sql.counter.LedgerLine;
import io.pawl.sql.counter.LedgerPruner;
import io.pawl.sql.counter.PendingOperation;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import io.pawl.sql.lock.Combiner;
import io.pawl.sql.lock.Crowd;
import io.pawl.sql.lock.LockViews;
import io.pawl.sql.lock.Request;
import io.pawl.sql.lock.Shortcut;
import io.pawl.sql.lock.Upkeep;
import io.pawl.sql.lock.WaitingClaims;
import io.pawl.sql.transaction.Borrowed;
import io.pawl.sql.transaction.KeptReader;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Locks and counters in a SQL database. Each lock has one row. Core's {@link GrantRule} decides
 * over it, by the database's clock, inside short transactions that serve many requests at once (see
 * {@link Combiner}). A row is deleted by {@link #purge} alone, which keeps tokens growing.
 */
public final class SqlStore
    implements QuorumNode, CounterStore, Inspectable, Diagnosable, Maintainable, Measured {

  private static final AtomicInteger stores = new AtomicInteger();

  private final Database database;
  private final WaitingClaims waiters;
  private final Combiner combiner;
  private final CounterCombiner counters;
  private final LedgerPruner pruner;
  private final Upkeep upkeep;

  /** Null where it is no node of a quorum. */
  private volatile @Nullable Newcomer newcomer;

  /** For upkeep, which may take long: one thing at a time. */
  private final ThreadPoolExecutor keeper;

  /** Reads ledgers: whoever completes an answer may have the only connection. */
  private final ThreadPoolExecutor reader;

  private final KeptReader looks;

  private SqlStore(Database database) {
    String name = "pawl-sql-" + stores.incrementAndGet();
    this.database = database;
    this.waiters = new WaitingClaims(database, name + "-bell");
    this.combiner = new Combiner(database, waiters, name + "-combiner");
    this.counters = new CounterCombiner(database, name + "-counters");
    this.pruner = new LedgerPruner(database, counters);
    this.upkeep = new Upkeep(database, combiner.tally());
    this.keeper = OwnThread.named(name + "-upkeep");
    this.reader = OwnThread.named(name + "-reader");
    this.looks = new KeptReader(database, name + "-looks");
  }

  /**
   * Returns a store on the application's own connections to MySQL, MariaDB or PostgreSQL. The store
   * borrows a connection on a thread of its own, and so never one in which the application has work
   * under way. It returns the connection as it came as soon as no request is queued; a wait holds
   * no connection. A pool of one connection is enough. If the pool is exhausted, a request takes as
   * long as the pool lets a borrower wait; a store opened by URL has its own connections and never
   * waits for a pool.
   *
   * @param pool the pool; its connections may be out of autocommit, and have any isolation
   * @param createsTables whether missing tables may be created; if not, or if the account may not,
   *     the exception says what to run
   * @throws io.pawl.error.StoreException when the database cannot be reached or used
   */
  public static SqlStore over(DataSource pool, boolean createsTables) {
    return OwnThread.call(
        "pawl-sql-open", () -> open(Databases.at(Databases.of(pool), createsTables, false)));
  }

  /** As {@link #over(DataSource, boolean)}, creating tables that are missing. */
  public static SqlStore over(DataSource pool) {
    return over(pool, true);
  }

  /** Connects, and creates or checks the tables. */
  static SqlStore open(Database database) {
    SqlStore store = new SqlStore(database);
    try (KeptInterrupts kept = new KeptInterrupts()) {
      kept.clear();
      store.combiner.open();
      store.waiters.open();
    } catch (RuntimeException e) {
      store.close();
      throw database.located(e);
    }
    return store;
  }

  /**
   * From now on a lock whose tokens begin at 0 is refused: the database is new, or was emptied. One
   * that keeps what it committed has forgotten nothing else.
   */
  @Override
  public void joinQuorum(Duration longestLease) {
    newcomer = new Newcomer(longestLease);
  }

  private Newcomer newcomer() {
    Newcomer known = newcomer;
    if (known == null) {
      throw new IllegalStateException("store '" + describe() + "' is no node of a quorum");
    }
    return known;
  }

  /** One round trip, which reads the tokens of all locks. */
  @Override
  public CompletionStage<Incarnation> incarnation() {
    Newcomer known = newcomer();
    Supplier<Incarnation> look = () -> known.incarnation(describe(), upkeep::highestTokens);
    return CompletableFuture.supplyAsync(() -> database.connections().use(look), keeper);
  }

  /** Locks that nobody has taken yet begin above 0, and so do those that the database knows. */
  @Override
  public CompletionStage<Void> trust() {
    newcomer();
    return upkeep(() -> upkeep.raiseTokensTo(1)).thenApply(rows -> null);
  }

  @Override
  public CompletionStage<Void> raise(Incarnation known, long above) {
    Newcomer here = newcomer();
    return upkeep(() -> isStill(known, here) ? upkeep.raiseTokensTo(Math.max(1, above)) : 0L)
        .thenApply(rows -> null);
  }

  /** A database that was emptied since stays out for its own time. */
  private boolean isStill(Incarnation known, Newcomer here) {
    return here.incarnation(describe(), upkeep::highestTokens).since() == known.since();
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    if (claim.queues()) {
      waiters.add(claim, bell);
    }
    Newcomer node = newcomer;
    int[] ahead = {0};
    long[] lastToken = {0};
    return decide(
            claim,
            (state, now) -> {
              if (node != null) {
                Newcomer.checkVotes(describe(), state.lastToken());
                lastToken[0] = state.lastToken();
              }
              Standing standing = Crowd.attempt(state, claim, now);
              ahead[0] = state.waitersBefore(claim.id());
              return standing;
            },
            known -> mayTake(known) ? Shortcut.toTake(known, claim) : null,
            claim.mode() instanceof Mode.Exclusive)
        .whenComplete(
            (standing, failure) -> {
              if (standing instanceof Standing.Waiting) {
                waiters.watch(claim.id(), ahead[0]);
              } else {
                waiters.remove(claim.id());
              }
              if (node != null && failure == null) {
                node.saw(lastToken[0]);
              }
            });
  }

  /** Whether a lock of which no token is known may be taken without a look. */
  private boolean mayTake(Shortcut.Known known) {
    return newcomer == null || known.lastToken() > 0;
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    List<Claim> all = List.copyOf(claims);
    List<String> locks = all.stream().map(Claim::lock).distinct().toList();
    CompletableFuture<Map<ClaimId, Standing>> answer =
        combiner.submit(
            new Request<Map<ClaimId, Standing>>() {
              @Override
              public List<String> names() {
                return locks;
              }

              /** Claims with long leases that wait: one question of eight moves their deadlines. */
              @Override
              public boolean seldomChanges() {
                return all.stream()
                    .allMatch(
                        claim ->
                            claim.leaseMillis() > Claim.LONG_LEASE_MILLIS
                                && waiters.know(claim.id()));
              }

              @Override
              public Collection<ClaimId> claims() {
                return all.stream().map(Claim::id).toList();
              }

              @Override
              public Map<ClaimId, Standing> decide(SortedMap<String, LockState> states, long now) {
                return standings(all, states, now);
              }
            });
    return answer
        .handle((standings, failure) -> standings == null ? goneIfLost(all, failure) : standings)
        .whenComplete((standings, failure) -> forgetThoseNotWaiting(standings));
  }

  /** Without those whose locks cannot be decided, unless there are no others. */
  private Map<ClaimId, Standing> standings(
      List<Claim> claims, SortedMap<String, LockState> states, long now) {
    Map<ClaimId, Standing> standings = new HashMap<>();
    StoreException failure = null;
    for (Claim claim : claims) {
      LockState state = states.get(claim.lock());
      if (state != null) {
        try {
          standings.put(claim.id(), GrantRule.renew(state, claim.id(), now));
          waiters.standsBehind(claim.id(), state.waitersBefore(claim.id()));
        } catch (StoreException e) {
          failure = e;
        }
      }
    }
    if (failure != null && standings.isEmpty()) {
      throw failure;
    }
    return standings;
  }

  /** Where the database is no longer what others see, no claim in it is held or waits. */
  private Map<ClaimId, Standing> goneIfLost(List<Claim> claims, @Nullable Throwable failure) {
    if (!database.dialect().isLost()) {
      throw new CompletionException(failure);
    }
    Map<ClaimId, Standing> gone = new HashMap<>();
    claims.forEach(claim -> gone.put(claim.id(), Standing.GONE));
    return gone;
  }

  private void forgetThoseNotWaiting(@Nullable Map<ClaimId, Standing> standings) {
    if (standings != null) {
      standings.forEach(
          (id, standing) -> {
            if (!(standing instanceof Standing.Waiting)) {
              waiters.remove(id);
            }
          });
    }
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    waiters.remove(claim.id());
    CompletableFuture<Void> ended =
        decide(
            claim,
            (state, now) -> {
              GrantRule.withdraw(state, claim, now);
              return null;
            },
            known -> Shortcut.toGiveBack(known, claim),
            false);
    return ended.exceptionally(
        failure -> {
          throwUnlessOfACounter(failure);
          return null;
        });
  }

  /** By the name of a counter no claim is ever let in, so that there is none to end. */
  private static void throwUnlessOfACounter(Throwable failure) {
    if (!(failure instanceof NameInUseException)) {
      throw new CompletionException(failure);
    }
  }

  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return decide(lock, (state, now) -> GrantRule.evict(state, token, now))
        .exceptionally(
            failure -> {
              throwUnlessOfACounter(failure);
              return false;
            });
  }

  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return decide(lock, (state, now) -> GrantRule.setKind(state, kind, now));
  }

  private CompletableFuture<Boolean> decide(
      String lock, BiFunction<LockState, Long, Boolean> verb) {
    return combiner.submit(Request.about(lock, verb));
  }

  /** One transaction. */
  @Override
  public void together(Runnable calls) {
    combiner.together(calls);
  }

  private <T> CompletableFuture<T> decide(
      Claim claim,
      BiFunction<LockState, Long, T> verb,
      Function<Shortcut.Known, @Nullable Shortcut> shortcut,
      boolean joinsWhereBusy) {
    List<String> locks = List.of(claim.lock());
    return combiner.submit(
        new Request<T>() {
          @Override
          public List<String> names() {
            return locks;
          }

          @Override
          public T decide(SortedMap<String, LockState> states, long now) {
            return verb.apply(Objects.requireNonNull(states.get(claim.lock())), now);
          }

          @Override
          public boolean joinsWhereBusy() {
            return joinsWhereBusy;
          }

          @Override
          public Claim claim() {
            return claim;
          }

          @Override
          public @Nullable Shortcut shortcut(Shortcut.Known known) {
            return shortcut.apply(known);
          }
        });
  }

  @Override
  public CompletionStage<CounterAnswer> apply(CounterRequest request) {
    return counters.submit(new PendingOperation.Change(request));
  }

  @Override
  public CompletionStage<Optional<CounterView>> read(String counter) {
    return counters.submit(new PendingOperation.Look(counter));
  }

  @Override
  public CompletionStage<List<LedgerEntry>> history(String counter, int limit) {
    return read(counter).thenApplyAsync(returned -> lastLines(counter, limit), reader);
  }

  private List<LedgerEntry> lastLines(String counter, int limit) {
    return database.connections().use(() -> readLastLines(counter, limit));
  }

  private List<LedgerEntry> readLastLines(String counter, int limit) {
    return looks.look(
        reader -> {
          try (PreparedStatement select = reader.prepareStatement(CounterTables.lastLines(limit))) {
            select.setString(1, counter);
            return CounterTables.readLines(select, database.dialect()).stream()
                .map(LedgerLine::entry)
                .toList();
          }
        });
  }

  @Override
  public CompletionStage<Long> prune(String counter, Instant before) {
    return upkeep(() -> pruner.prune(counter, before.toEpochMilli()));
  }

  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    return views(locks -> locks.busy(limit));
  }

  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return views(locks -> locks.one(lock));
  }

  @Override
  public CompletionStage<Long> purge(Duration idle) {
    if (idle.compareTo(SHORTEST_IDLE) < 0 || idle.compareTo(DurationText.LONGEST) > 0) {
      throw new IllegalArgumentException("idle: " + idle + " is not between 1 hour and 100 years");
    }
    return upkeep(() -> upkeep.purge(idle));
  }

  @Override
  public CompletionStage<Long> raiseTokens(long by) {
    if (by < 1 || by > MOST_RAISED) {
      throw new IllegalArgumentException("by: " + by + " is not between 1 and 2^50");
    }
    return upkeep(() -> upkeep.raiseTokens(by));
  }

  private CompletionStage<Long> upkeep(Supplier<Long> work) {
    return CompletableFuture.supplyAsync(() -> database.connections().use(work), keeper);
  }

  @Override
  public CompletionStage<List<CounterView>> list(String after, int limit) {
    return CompletableFuture.supplyAsync(
        () -> database.connections().use(() -> readCounters(after, limit)), reader);
  }

  private List<CounterView> readCounters(String after, int limit) {
    return looks.look(
        reader -> CounterTables.countersAfter(reader, database.dialect(), after, limit));
  }

  private interface Look<T> {
    T at(LockViews locks) throws SQLException;
  }

  /** On a thread of our own where callers do not expect to be {@linkplain #blocks() blocked}. */
  private <T> CompletableFuture<T> views(Look<T> look) {
    Supplier<T> view =
        () ->
            database
                .connections()
                .use(
                    () -> looks.look(reader -> look.at(new LockViews(database.dialect(), reader))));
    if (!database.connections().areOurs()) {
      return CompletableFuture.supplyAsync(view, reader);
    }
    try {
      return CompletableFuture.completedFuture(view.get());
    } catch (StoreException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * {@code locks.} and {@code counters.batches}, the {@code requests} in them, how often a
   * transaction was {@code repeated}, and a request {@code putOff} for a row that others had
   * locked.
   */
  @Override
  public Map<String, Long> figures() {
    Map<String, Long> figures = new TreeMap<>();
    combiner.tally().addTo(figures, "locks");
    counters.tally().addTo(figures, "counters");
    return figures;
  }

  @Override
  public List<Finding> diagnose() {
    return database.connections().use(this::findings);
  }

  private List<Finding> findings() {
    try (Borrowed reader = Borrowed.reader(database)) {
      return findings(reader);
    } catch (SQLException e) {
      throw database.explain(e);
    }
  }

  private List<Finding> findings(Borrowed reader) throws SQLException {
    try {
      return database.dialect().diagnose(reader.connection());
    } catch (SQLException | RuntimeException | Error e) {
      reader.markFailed();
      throw e;
    }
  }

  @Override
  public boolean servesOthers() {
    return database.dialect().servesOthers();
  }

  /** A transaction is repeated before the next one begins. */
  @Override
  public boolean attemptsArriveOnce() {
    return true;
  }

  /** JDBC blocks, on whose thread it is used. */
  @Override
  public boolean blocks() {
    return database.connections().areOurs();
  }

  @Override
  public int renewBatch() {
    return Combiner.MAX_BATCH;
  }

  @Override
  public String describe() {
    return database.describe();
  }

  @Override
  public void close() {
    upkeep.close();
    pruner.close();
    waiters.close();
    combiner.close();
    counters.close();
    OwnThread.end(keeper);
    OwnThread.end(reader);
    looks.close();
  }
}
