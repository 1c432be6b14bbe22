package io.pawl.lab.session;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.LabException;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.NodeExistsException;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Everybody who waits watches the same node, so each release wakes all of them. */
public final class S18Herd implements Specimen {

  private static final int WAITERS = 20;
  private static final int SESSION_MILLIS = 10_000;

  /** The next in line, and the one behind it, which learns so that it is next. */
  private static final long NEXT_TWO = 2;

  private static final int PATIENCE_SECONDS = 30;

  @Override
  public String id() {
    return "S18";
  }

  @Override
  public String title() {
    return "one ephemeral node per lock, which all waiters watch";
  }

  @Override
  public String origin() {
    return "The recipe that ZooKeeper's own page warns of.";
  }

  @Override
  public Service service() {
    return Service.ZOOKEEPER;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    String node = "/" + stage.name();
    ZooKeeper holder = connected(stage);
    tryLock(holder, node);
    trace.holds("A", "create ephemeral node");
    List<ZooKeeper> waiters = new ArrayList<>();
    CountDownLatch woken = new CountDownLatch(WAITERS);
    for (int i = 0; i < WAITERS; i++) {
      ZooKeeper waiter = connected(stage);
      waiters.add(waiter);
      waiter.exists(
          node,
          event -> {
            if (event.getType() == EventType.NodeDeleted) {
              woken.countDown();
            }
          });
    }
    trace.step("waiters", WAITERS + " watch the node");
    long before = woken(stage);
    holder.delete(node, -1);
    trace.ends("A", "delete");
    boolean all = woken.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    trace.fault("waiters", WAITERS - woken.getCount() + " are woken");
    int winners = 0;
    for (ZooKeeper waiter : waiters) {
      winners += tryLock(waiter, node) ? 1 : 0;
      waiter.exists(node, true);
    }
    trace.step("waiters", "create: " + winners + " gets in, the others watch again");
    long fired = woken(stage) - before;
    trace.step("server", fired + " watches fired for one hand-off");
    return new Finding(
        all && winners == 1 && fired == WAITERS ? Verdict.COSTLY : Verdict.NOT_REPRODUCED,
        "one release wakes " + fired + " waiters, who send " + 2 * WAITERS + " requests",
        "zk_sum_node_deleted_watch_count");
  }

  private static ZooKeeper connected(Stage stage) throws Exception {
    CompletableFuture<Boolean> connected = new CompletableFuture<>();
    ZooKeeper client =
        stage.own(
            new ZooKeeper(
                stage.ground().zooKeeper().address(),
                SESSION_MILLIS,
                event -> {
                  if (event.getState() == KeeperState.SyncConnected) {
                    connected.complete(true);
                  }
                }));
    stage.get(connected);
    return client;
  }

  private static boolean tryLock(ZooKeeper client, String node) throws Exception {
    try {
      client.create(node, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
      return true;
    } catch (NodeExistsException e) {
      return false; // busy
    }
  }

  /** How many watches the deletion of a node has fired so far. */
  private static long woken(Stage stage) {
    return figure(stage, "zk_sum_node_deleted_watch_count");
  }

  private static long figure(Stage stage, String name) {
    try {
      Matcher found =
          Pattern.compile("(?m)^" + name + "\\s+(\\d+)")
              .matcher(stage.ground().zooKeeper().ask("mntr"));
      if (!found.find()) {
        throw new LabException("ZooKeeper does not tell " + name);
      }
      return Long.parseLong(found.group(1));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Pawl holder = stage.pawl(service());
    Lease a = holder.lock(stage.name()).acquire();
    stage.holds("A", "acquire", a);
    List<CompletableFuture<Lease>> waiting = new ArrayList<>();
    for (int i = 0; i < WAITERS; i++) {
      Pawl waiter = stage.pawl(service());
      waiting.add(waiter.lock(stage.name()).acquireAsync());
    }
    stage.await(
        "all stand in line", () -> holder.inspect(stage.name()).waiters().size() == WAITERS);
    stage.await("each watches the one before it", () -> figure(stage, "zk_watch_count") >= WAITERS);
    trace.step("waiters", WAITERS + " clients stand in line");
    long before = woken(stage);
    a.close();
    trace.ends("A", "close");
    stage.await("one is granted", () -> granted(waiting).isPresent());
    stage.holds("first", "granted", granted(waiting).orElseThrow());
    long fired = woken(stage) - before;
    trace.step("server", fired + " watches fired for one hand-off");
    return fired <= NEXT_TWO
        ? Finding.standsUnlessShared(
            trace,
            "one release tells "
                + fired
                + " of "
                + WAITERS
                + " waiters: the next, and the one behind it",
            "zk_sum_node_deleted_watch_count")
        : new Finding(Verdict.COSTLY, fired + " were woken", "zk_sum_node_deleted_watch_count");
  }

  private static Optional<Lease> granted(List<CompletableFuture<Lease>> waiting) {
    return waiting.stream()
        .filter(it -> it.isDone() && !it.isCompletedExceptionally())
        .map(CompletableFuture::join)
        .findFirst();
  }
}
