package io.pawl.bench.suite;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.bench.BenchException;
import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SqlFlavour;
import io.pawl.bench.rival.SqlPool;
import io.pawl.bench.rival.TakingRival;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.OptionalLong;

/**
 * One hot counter on a database server: takes with an id, a floor and a ledger, beside a guarded
 * UPDATE and a SELECT FOR UPDATE that have none of these but the floor. After each run the tables
 * are asked: all that was taken must be missing, once.
 */
final class CountersSqlSuite implements ContestSuite {

  static final String PAWL = "Pawl tryTake";
  static final String GUARDED = "guarded UPDATE";
  static final String LOCKED = "SELECT FOR UPDATE";

  private static final String COUNTER = "bench";
  private static final String ID_OF_STOCK = "stock";
  private static final long STOCK = 1_000_000_000_000L;

  private final SqlFlavour flavour;
  private final List<Target> targets;

  /**
   * @param targets with 64 threads
   */
  CountersSqlSuite(SqlFlavour flavour, Target... targets) {
    this.flavour = flavour;
    this.targets = List.of(targets);
  }

  @Override
  public String name() {
    return "counters-" + flavour.word();
  }

  @Override
  public String purpose() {
    return "takes from one counter on a "
        + flavour.title
        + " server, beside a guarded UPDATE and SELECT FOR UPDATE";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        new TakingRival(PAWL, CountersSqlSuite::pawl),
        new TakingRival(GUARDED, address -> new Pooled(address, true)),
        new TakingRival(LOCKED, address -> new Pooled(address, false)));
  }

  @Override
  public List<Contest> contests() {
    List<String> all = List.of(PAWL, GUARDED, LOCKED);
    return List.of(
        new Contest("one counter, 1 thread", Load.of(1, 1).writing(), all, List.of()),
        new Contest("one counter, 64 threads", Load.of(64, 64).writing(), all, targets),
        new Contest(
            "one counter, 2 JVMs × 16 threads",
            Load.of(16, 32).inEachOf(2).writing(),
            all,
            List.of()));
  }

  private static TakingRival.Taker pawl(String address) {
    Pawl pawl = Pawl.connect(address);
    Counter counter = pawl.counter(COUNTER);
    counter.update(Update.set(STOCK), OperationId.of(ID_OF_STOCK));
    return new TakingRival.Taker() {
      @Override
      public boolean takeOne(String id) {
        return counter.tryTake(1, OperationId.of(id)).isApplied();
      }

      @Override
      public void close() {
        pawl.close();
      }
    };
  }

  /** Through a pool, without id and ledger. */
  private static final class Pooled implements TakingRival.Taker {

    private final HikariDataSource pool;
    private final boolean guarded;

    /**
     * @param guarded whether one UPDATE in autocommit does it, else a transaction that reads first
     */
    Pooled(String address, boolean guarded) {
      this.pool = SqlPool.open(address, SqlPool.USUAL_SIZE, guarded);
      this.guarded = guarded;
    }

    @Override
    public boolean takeOne(String id) {
      try (Connection connection = pool.getConnection()) {
        return guarded ? takeGuarded(connection) : takeLocked(connection);
      } catch (SQLException e) {
        throw new BenchException("a take failed", e);
      }
    }

    private static boolean takeGuarded(Connection connection) throws SQLException {
      return SqlPool.update(connection, "UPDATE stock SET v = v - 1 WHERE id = 1 AND v >= 1") == 1;
    }

    private static boolean takeLocked(Connection connection) throws SQLException {
      try (PreparedStatement select =
              connection.prepareStatement("SELECT v FROM stock WHERE id = 1 FOR UPDATE");
          ResultSet row = select.executeQuery()) {
        row.next();
        long left = row.getLong(1);
        boolean taken =
            left >= 1
                && SqlPool.update(connection, "UPDATE stock SET v = ? WHERE id = 1", left - 1) == 1;
        connection.commit();
        return taken;
      }
    }

    @Override
    public void close() {
      pool.close();
    }
  }

  /** Nothing to write: the counter itself is what is checked. */
  @Override
  public Resource resource(String address) {
    return lock -> {};
  }

  @Override
  public Ground open(Path folder) {
    return new CounterGround(new SqlGround(flavour));
  }

  /** A server whose tables are asked without Pawl. */
  record CounterGround(SqlGround plain) implements Ground {

    @Override
    public String fresh() {
      String address = plain.fresh();
      plain.run("CREATE TABLE stock (id INT PRIMARY KEY, v BIGINT NOT NULL)");
      plain.run("INSERT INTO stock VALUES (1, " + STOCK + ")");
      return address;
    }

    @Override
    public OptionalLong operations() {
      return plain.operations();
    }

    @Override
    public List<String> notes() {
      return plain.notes();
    }

    @Override
    public void checkRows(String address, long writes) {
      long taken = STOCK - number("SELECT v FROM stock WHERE id = 1");
      if (taken == 0 && writes > 0) {
        String ofCounter = " WHERE counter = '" + COUNTER + "' AND id <> '" + ID_OF_STOCK + "'";
        taken = -number("SELECT COALESCE(sum(delta), 0) FROM pawl_ledger" + ofCounter);
        check(
            "lines in the ledger", number("SELECT count(*) FROM pawl_ledger" + ofCounter), writes);
        check(
            "missing from the counter",
            STOCK - number("SELECT value FROM pawl_counter WHERE name = '" + COUNTER + "'"),
            writes);
      }
      check("taken", taken, writes);
    }

    private static void check(String what, long found, long writes) {
      if (found != writes) {
        throw new ExclusionViolation("of " + writes + " takes there are " + found + ' ' + what);
      }
    }

    private long number(String sql) {
      return Long.parseLong(plain.ask(sql, 1));
    }

    @Override
    public void close() {
      plain.close();
    }
  }
}
