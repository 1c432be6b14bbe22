package io.pawl.lab.rival;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ServerProcess;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.data.Stat;

/** An acquire fails, as its line is silent: does its node stay in line once the line is whole? */
public final class S26Ghost implements Specimen {

  private static final int SESSION_MILLIS = 30_000;
  private static final int CONNECT_MILLIS = 1_000;
  private static final int RETRY_MILLIS = 100;

  @Override
  public String id() {
    return "S26";
  }

  @Override
  public String title() {
    return Versions.of("Curator", InterProcessMutex.class)
        + ": InterProcessMutex, an acquire whose replies are lost";
  }

  @Override
  public String origin() {
    return "CURATOR-678, and CURATOR-45 before it.";
  }

  @Override
  public Service service() {
    return Service.ZOOKEEPER;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    ServerProcess server = stage.ground().zooKeeper();
    FaultProxy line = stage.own(FaultProxy.before(server));
    String node = "/" + stage.name();
    CuratorFramework direct = client(stage, stage.ground().zooKeeper().address());
    CuratorFramework far = client(stage, line.host() + ":" + line.port());
    InterProcessMutex a = new InterProcessMutex(direct, node);
    InterProcessMutex b = new InterProcessMutex(far, node);
    InterProcessMutex c = new InterProcessMutex(client(stage, direct), node);
    a.acquire();
    trace.holds("A", "acquire");
    line.blackHole(Direction.TO_CLIENT);
    trace.fault("B", "its replies are lost from here on");
    CompletableFuture<Boolean> asked = stage.async(() -> b.acquire(1, TimeUnit.SECONDS));
    stage.await("B's node is in line", () -> children(direct, node) == 2);
    trace.step("B", "acquire(1 s): its node is in line");
    line.refuse();
    line.reset();
    trace.fault("B", "its connection breaks");
    trace.refused("B", "acquire → " + outcome(stage, asked));
    line.heal();
    trace.step("B", "its line is whole again, within its session");
    a.release();
    trace.ends("A", "release");
    boolean granted = c.acquire(Stage.SLACK.toMillis(), TimeUnit.MILLISECONDS);
    int ghosts = children(direct, node) - (granted ? 1 : 0);
    if (granted) {
      trace.holds("C", "acquire");
    } else {
      trace.refused("C", "acquire(4 s) → false");
    }
    trace.step("server", ghosts + " nodes of B are in line");
    return new Finding(
        granted ? Verdict.NOT_REPRODUCED : Verdict.STALLED,
        granted
            ? "B's client deletes its node once its line is whole"
            : "the node of an acquire that failed stands in line as long as its session lives",
        "acquire, children of the lock's node");
  }

  private static String outcome(Stage stage, CompletableFuture<Boolean> asked)
      throws InterruptedException {
    try {
      return stage.get(asked).toString();
    } catch (ExecutionException e) {
      return String.valueOf(e.getCause());
    }
  }

  private static int children(CuratorFramework client, String node) throws Exception {
    Stat stat = client.checkExists().forPath(node);
    return stat == null ? 0 : stat.getNumChildren();
  }

  private static CuratorFramework client(Stage stage, CuratorFramework beside) {
    return client(stage, beside.getZookeeperClient().getCurrentConnectionString());
  }

  private static CuratorFramework client(Stage stage, String address) {
    CuratorFramework client =
        CuratorFrameworkFactory.builder()
            .connectString(address)
            .sessionTimeoutMs(SESSION_MILLIS)
            .connectionTimeoutMs(CONNECT_MILLIS)
            .retryPolicy(new RetryOneTime(RETRY_MILLIS))
            .build();
    client.start();
    stage.own(client::close);
    return client;
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    FaultProxy line = stage.own(FaultProxy.before(stage.ground().zooKeeper()));
    Pawl first = stage.pawl(service());
    Pawl far =
        stage.pawl(
            stage
                .url(service())
                .replace(stage.ground().zooKeeper().address(), line.host() + ":" + line.port()));
    far.lock(stage.name() + "-warm").acquire().close();
    Lease a = first.lock(stage.name()).acquire();
    stage.holds("A", "acquire", a);
    line.blackHole(Direction.TO_CLIENT);
    trace.fault("B", "its replies are lost from here on");
    CompletableFuture<Lease> asked = far.lock(stage.name()).acquireAsync();
    stage.await("B is in line", () -> first.inspect(stage.name()).waiters().size() == 1);
    trace.step("B", "acquire: it is in line");
    line.refuse();
    line.reset();
    trace.fault("B", "its connection breaks");
    asked.cancel(true);
    trace.refused("B", "gives up");
    line.heal();
    trace.step("B", "its line is whole again");
    a.close();
    trace.ends("A", "close");
    return PawlSteps.nextGetsIn(stage, stage.pawl(service()), "C");
  }
}
