package io.pawl.bench.consensus;

import io.pawl.bench.BenchException;
import io.pawl.servers.ZooKeeperEnsemble;
import io.pawl.servers.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** ZooKeeper as it comes: ticks of 2 s, and a log that is forced to the disk. */
final class ZooKeeperGround implements ConsensusGround {

  private static final int ENSEMBLE = 3;

  /** What the servers of tests leave out, for speed or memory. */
  private static final String[] OPTIONS = {
    "initLimit=10", "syncLimit=5", "-Xmx1g", "-XX:TieredStopAtLevel=4", "-Dzookeeper.forceSync=yes"
  };

  private final @Nullable ZooKeeperEnsemble ensemble;
  private final List<ZooKeeperServer> members;
  private final int size;
  private @Nullable ZooKeeperServer dead;
  private int bases;

  ZooKeeperGround(boolean three) {
    if (three) {
      ZooKeeperEnsemble started = ZooKeeperEnsemble.start(OPTIONS);
      ensemble = started;
      members = started.members();
    } else {
      ensemble = null;
      members = List.of(ZooKeeperServer.start(OPTIONS));
    }
    size = members.size();
  }

  @Override
  public String fresh() {
    String hosts = String.join(",", members.stream().map(ZooKeeperServer::address).toList());
    return "zk://" + hosts + "/bench-" + bases++ + "?timeout=30s"; // for 1,000 at once
  }

  @Override
  public OptionalLong operations() {
    return OptionalLong.of(requests());
  }

  @Override
  public long requests() {
    return members.stream().mapToLong(member -> figure(member, "zk_packets_received")).sum();
  }

  /** Claims are ephemeral; what a rival's locks leave otherwise goes with their containers. */
  @Override
  public long left(String side) {
    return figure(members.get(0), "zk_ephemerals_count");
  }

  private static long figure(ZooKeeperServer member, String name) {
    try {
      Matcher found = Pattern.compile("(?m)^" + name + "\\s+(\\d+)").matcher(member.ask("mntr"));
      if (!found.find()) {
        throw new BenchException(member + " does not tell " + name);
      }
      return Long.parseLong(found.group(1));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public List<String> notes() {
    return List.of(
        (size == ENSEMBLE ? "three ZooKeeper servers" : "a ZooKeeper server")
            + ", ticks of 2 s, log forced to the disk; store ops and commands: packets that its"
            + " servers received, signs of life and what a client sends to connect among them");
  }

  @Override
  public void killLeader() {
    ZooKeeperServer leader = ensemble().leader();
    dead = leader;
    leader.kill();
  }

  @Override
  public void mend() {
    if (dead != null) {
      dead.restart();
      dead = null;
      ensemble().awaitQuorum(ENSEMBLE);
    }
  }

  private ZooKeeperEnsemble ensemble() {
    if (ensemble == null) {
      throw new IllegalStateException("one server has no other to lead");
    }
    return ensemble;
  }

  @Override
  public void close() {
    if (ensemble == null) {
      members.forEach(ZooKeeperServer::close);
    } else {
      ensemble.close();
    }
  }
}
