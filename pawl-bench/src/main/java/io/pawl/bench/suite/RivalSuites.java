package io.pawl.bench.suite;

import io.pawl.bench.Suite;
import io.pawl.bench.SuiteSource;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.SqlFlavour;
import io.pawl.bench.start.SpringStartSuite;
import io.pawl.bench.start.StartupSuite;
import java.util.List;

/** All suites of this package. */
public final class RivalSuites implements SuiteSource {

  private static final Target FIFTEEN_TIMES =
      Target.timesAtLeast(15, CountersSqlSuite.PAWL, Metric.CYCLES, CountersSqlSuite.GUARDED);

  @Override
  public List<Suite> suites() {
    return List.of(
        new MemorySuite(),
        new SqliteSuite(),
        new SqlSuite(SqlFlavour.MYSQL, 8),
        new SqlSuite(SqlFlavour.MARIADB, 8),
        new SqlSuite(SqlFlavour.POSTGRESQL, 3),
        new SqlHeldSuite(SqlFlavour.MYSQL),
        new SqlHeldSuite(SqlFlavour.MARIADB),
        new SqlHeldSuite(SqlFlavour.POSTGRESQL),
        new WaitingSuite(SqlFlavour.MYSQL),
        new WaitingSuite(SqlFlavour.MARIADB),
        new WaitingSuite(SqlFlavour.POSTGRESQL),
        new PruneSuite(SqlFlavour.MYSQL),
        new PruneSuite(SqlFlavour.MARIADB),
        new PruneSuite(SqlFlavour.POSTGRESQL),
        new RedisSuite(),
        new RedisKindsSuite(),
        new RedisGroupSuite(),
        new RedisHeldSuite(),
        new RedisScaleSuite(),
        new RedisConnectSuite(),
        new GateSuite(),
        new CountersSqlSuite(SqlFlavour.MYSQL, FIFTEEN_TIMES),
        new CountersSqlSuite(SqlFlavour.MARIADB),
        new CountersSqlSuite(SqlFlavour.POSTGRESQL),
        new CountersRedisSuite(),
        new ElectionSuite(),
        new StartupSuite(),
        new MetersSuite(),
        new SpringStartSuite(),
        new JmhSuite());
  }
}
