package io.pawl.bench.consensus;

import io.pawl.bench.Suite;
import io.pawl.bench.SuiteSource;
import java.util.List;

/** All suites of this package. */
public final class ConsensusSuites implements SuiteSource {

  @Override
  public List<Suite> suites() {
    return List.of(
        new ConsensusSuite(Service.ZOOKEEPER, false),
        new ConsensusSuite(Service.ZOOKEEPER, true),
        new ConsensusSuite(Service.ETCD, false),
        new ConsensusSuite(Service.ETCD, true));
  }
}
