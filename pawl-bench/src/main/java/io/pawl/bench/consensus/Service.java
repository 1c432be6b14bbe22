package io.pawl.bench.consensus;

import io.pawl.bench.rival.CuratorLocks;
import io.pawl.bench.rival.CuratorSemaphores;
import io.pawl.bench.rival.JetcdLocks;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SharedRivals;
import java.time.Duration;
import java.util.List;

/** Which service, and who else makes locks of it. */
enum Service {
  ZOOKEEPER("zookeeper", "ensemble", "ZooKeeper", "zk", CuratorLocks.NAME) {
    @Override
    Rival theirs() {
      return new CuratorLocks(CuratorLocks.USUAL_SESSION);
    }

    @Override
    Rival theirs(Duration lease) {
      return new CuratorLocks(lease);
    }

    @Override
    List<Rival> semaphores() {
      return List.of(
          SharedRivals.semaphore(),
          SharedRivals.strictSemaphore(),
          new CuratorSemaphores(CuratorLocks.USUAL_SESSION));
    }

    @Override
    ConsensusGround start(boolean three) {
      return new ZooKeeperGround(three);
    }
  },
  ETCD("etcd", "cluster", "etcd", "etcd", JetcdLocks.NAME) {
    @Override
    Rival theirs() {
      return new JetcdLocks(JetcdLocks.USUAL_LEASE);
    }

    @Override
    Rival theirs(Duration lease) {
      return new JetcdLocks(lease);
    }

    @Override
    List<Rival> semaphores() {
      return List.of();
    }

    @Override
    ConsensusGround start(boolean three) {
      return new EtcdGround(three);
    }
  };

  /** As suites are called. */
  final String word;

  /** What three servers are called. */
  final String group;

  final String title;
  final String scheme;

  /** The rival's name. */
  final String rival;

  Service(String word, String group, String title, String scheme, String rival) {
    this.word = word;
    this.group = group;
    this.title = title;
    this.scheme = scheme;
    this.rival = rival;
  }

  abstract Rival theirs();

  /** Claims of a client that died end after {@code lease}, as far as the service allows. */
  abstract Rival theirs(Duration lease);

  /** Pawl's and the rival's; none where the rival has none. */
  abstract List<Rival> semaphores();

  abstract ConsensusGround start(boolean three);

  /** Pawl or the rival, by name. */
  Rival usual(String name) {
    return name.equals(rival) ? theirs() : PawlRival.passing(scheme);
  }

  /** As {@link #usual}, with claims that end after {@code lease} when their client dies. */
  Rival side(String name, Duration lease) {
    return name.equals(rival) ? theirs(lease) : PawlRival.passing(scheme, lease);
  }
}
