package io.pawl.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SuitesTest {

  @Test
  void namesOnTheCommandLineStay() {
    assertThat(Suites.all())
        .extracting(Suite::name)
        .filteredOn(name -> !name.equals("broken"))
        .containsExactly(
            "counters-mariadb",
            "counters-mysql",
            "counters-postgres",
            "counters-redis",
            "counters-soak",
            "election",
            "etcd",
            "etcd-cluster",
            "gate",
            "jmh",
            "mariadb",
            "mariadb-held",
            "mariadb-prune",
            "mariadb-waiting",
            "memory",
            "meters",
            "mysql",
            "mysql-held",
            "mysql-prune",
            "mysql-waiting",
            "postgres",
            "postgres-held",
            "postgres-prune",
            "postgres-waiting",
            "quorum",
            "redis",
            "redis-connect",
            "redis-group",
            "redis-held",
            "redis-kinds",
            "redis-scale",
            "redis-scripts",
            "spring-start",
            "sqlite",
            "startup",
            "zookeeper",
            "zookeeper-ensemble");
  }

  @Test
  void anUnknownNameIsAnsweredWithTheKnownOnes() {
    assertThatThrownBy(() -> Suites.named("mysql-hold"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("suite 'mysql-hold' is unknown")
        .hasMessageContaining("mysql-held");
  }
}
