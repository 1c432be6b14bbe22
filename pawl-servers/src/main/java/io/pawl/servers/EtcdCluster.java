package io.pawl.servers;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An etcd cluster of three members, each of which can be paused, killed and restarted. */
public final class EtcdCluster implements AutoCloseable {
  private static final int MEMBERS = 3;

  private final List<Port> peers = new ArrayList<>();
  private final List<EtcdServer> members = new ArrayList<>();

  private EtcdCluster() {}

  /** Starts three members with further options, such as {@code --election-timeout=500}. */
  public static EtcdCluster start(String... options) {
    EtcdCluster cluster = new EtcdCluster();
    try {
      for (int i = 0; i < MEMBERS; i++) {
        cluster.peers.add(Port.reserve());
      }
      for (int i = 0; i < MEMBERS; i++) {
        cluster.members.add(
            EtcdServer.member(
                "pawl" + i, cluster.peers.get(i), cluster::initial, List.of(options)));
      }
      cluster.launch(cluster.members);
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private String initial() {
    return IntStream.range(0, MEMBERS)
        .mapToObj(i -> "pawl" + i + "=" + EtcdServer.url(peers.get(i)))
        .collect(Collectors.joining(","));
  }

  /** None is ready before a majority is. */
  private void launch(List<EtcdServer> some) {
    try {
      CompletableFuture.allOf(
              some.stream()
                  .map(
                      member ->
                          CompletableFuture.runAsync(member::launch, EtcdCluster::inBackground))
                  .toArray(CompletableFuture[]::new))
          .join();
    } catch (CompletionException e) {
      throw new ServerException("the cluster did not start", e);
    }
  }

  private static void inBackground(Runnable task) {
    Thread thread = new Thread(task, "pawl-etcd-cluster");
    thread.setDaemon(true);
    thread.start();
  }

  public List<EtcdServer> members() {
    return List.copyOf(members);
  }

  /** Returns the member that leads; waits until there is one. */
  public EtcdServer leader() {
    Await.until(
        () -> members.stream().anyMatch(member -> member.isAlive() && member.leads()),
        () -> "no member leads");
    return members.stream().filter(EtcdServer::leads).findFirst().orElseThrow();
  }

  /** Starts members that were killed or stopped, all at once. */
  public void restart(List<EtcdServer> some) {
    some.forEach(EtcdServer::stop);
    launch(some);
  }

  /** Returns {@code host:port} of all members, separated by commas. */
  public String addresses() {
    return members.stream()
        .map(member -> member.host() + ":" + member.port())
        .collect(Collectors.joining(","));
  }

  @Override
  public void close() {
    members.forEach(EtcdServer::close);
    peers.forEach(Port::close);
  }
}
