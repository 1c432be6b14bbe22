package io.pawl.lab.redis;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.servers.EtcdCluster;
import io.pawl.servers.EtcdServer;
import io.pawl.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;

/** Of five nodes that know nothing of each other one restarts empty, and votes twice. */
public final class S10Redlock implements Specimen {

  private static final int NODES = 5;
  private static final int MAJORITY = 3;
  private static final long LEASE_MILLIS = 30_000;

  @Override
  public String id() {
    return "S10";
  }

  @Override
  public String title() {
    return "Redlock on five nodes";
  }

  @Override
  public String origin() {
    return "The Redis manual; it asks for nodes that stay away for a lease after a restart.";
  }

  @Override
  public Service service() {
    return Service.REDIS;
  }

  @Override
  public Finding play(Stage stage) {
    Trace trace = stage.trace();
    List<RedisServer> nodes = new ArrayList<>();
    for (int i = 0; i < NODES; i++) {
      nodes.add(stage.own(RedisServer.start()));
    }
    nodes.subList(MAJORITY, NODES).forEach(RedisServer::kill);
    trace.fault("nodes", "4 and 5 are down");
    if (votes(nodes, stage.name(), "a-17") >= MAJORITY) {
      trace.holds("A", "SET NX PX on all: nodes 1, 2, 3");
    }
    nodes.subList(MAJORITY, NODES).forEach(RedisServer::restart);
    trace.step("nodes", "4 and 5 are back");
    nodes.get(MAJORITY - 1).kill();
    nodes.get(MAJORITY - 1).restart();
    trace.fault("nodes", "3 crashes and restarts empty");
    int second = votes(nodes, stage.name(), "b-42");
    if (second >= MAJORITY) {
      trace.holds("B", "SET NX PX on all: nodes 3, 4, 5");
    }
    trace.writes("A", "writes");
    return Finding.twoHolders(trace, "node 3 votes for A and for B: two majorities of five");
  }

  /** One vote of each node that is up; nobody holds if they are too few. */
  private static int votes(List<RedisServer> nodes, String name, String value) {
    int votes = 0;
    for (RedisServer node : nodes) {
      if (node.isAlive()
          && "OK".equals(node.call("SET", name, value, "NX", "PX", "" + LEASE_MILLIS))) {
        votes++;
      }
    }
    return votes;
  }

  /** With several nodes Pawl advises consensus, here etcd. Its quorum has tests of its own. */
  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    EtcdCluster cluster = stage.own(EtcdCluster.start());
    String url = "etcd://" + cluster.addresses() + "/lab";
    EtcdServer leader = cluster.leader();
    Pawl pawl = stage.pawl(url);
    Pawl other = stage.pawl(url);
    Lease a = pawl.lock(stage.name()).acquire();
    stage.holds("A", "acquire on three members of etcd", a);
    leader.kill();
    trace.fault("nodes", "the leader crashes");
    stage.await(
        "the others elect a leader",
        () -> cluster.members().stream().anyMatch(it -> it != leader && it.leads()));
    trace.step("nodes", "the others elect a leader");
    boolean whileDown = PawlSteps.isRefused(stage, other, "B");
    leader.restart();
    trace.step("nodes", "it is back");
    boolean afterwards = PawlSteps.isRefused(stage, other, "B");
    boolean kept = a.isValid();
    trace.step("A", "isValid → " + kept);
    a.close();
    trace.ends("A", "close");
    Lease b = other.lock(stage.name()).acquire();
    stage.holds("B", "acquire", b);
    return whileDown && afterwards && b.token() > a.token()
        ? Finding.standsUnlessShared(
            trace, "on etcd a member's crash loses no hold; B is granted it after A", "witness")
        : Finding.twoHolders(trace, "B was granted what A held");
  }
}
