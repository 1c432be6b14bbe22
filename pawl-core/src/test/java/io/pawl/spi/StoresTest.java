package io.pawl.spi;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoresTest {

  @ParameterizedTest
  @CsvSource({
    "sqlite:/x, pawl-sql",
    "jdbc:mysql://x/y, pawl-sql",
    "rediss://x, pawl-redis",
    "valkey-sentinel://x?master=m, pawl-redis",
    "etcd://x, pawl-etcd",
    "zk://x, pawl-zookeeper",
    "gate:redis://x|sqlite:/y, pawl-composite",
    "quorum:redis://a|redis://b|redis://c, pawl-quorum",
    "gopher:x, the one that does"
  })
  void aStoreWhoseModuleIsNotThereNamesIt(String url, String module) {
    StoreUrl parsed = StoreUrl.parse(url);
    assertThatThrownBy(() -> Stores.open(parsed))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("add " + module + " to the class path");
  }
}
