package io.pawl.lab.stage;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StaleTokenException;
import io.pawl.fence.Fence;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.ClockLibrary;
import io.pawl.servers.FaultProxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Where one run of a schedule is played: its notes, a name of its own for its lock, and what it
 * opens, which is closed with it, the last first. For the thread that plays, but {@link #async}.
 */
public final class Stage implements AutoCloseable {

  /** The lease of Pawl's locks in schedules that wait for its end. */
  public static final Duration LEASE = Duration.ofSeconds(1);

  /** The lease of locks that have to be renewed, on a busy machine too. */
  public static final Duration RENEWED = Duration.ofSeconds(2);

  /** Longer than {@link #RENEWED}. */
  public static final Duration LONGER = Duration.ofSeconds(3);

  /** How much longer than its lease a dead holder delays others at most, on a busy machine. */
  public static final Duration SLACK = Duration.ofSeconds(4);

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long POLL_MILLIS = 5;
  private static final int RESOURCES = 10;
  private static final Executor THREADS =
      task -> {
        Thread thread = new Thread(task, "lab-actor");
        thread.setDaemon(true);
        thread.start();
      };

  private final Ground ground;
  private final String name;
  private final Trace trace = new Trace();
  private final Fence fence = Fence.inMemory(RESOURCES);
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  /**
   * @param name of the lock that this run uses
   */
  public Stage(Ground ground, String name) {
    this.ground = ground;
    this.name = name;
  }

  public Ground ground() {
    return ground;
  }

  public Trace trace() {
    return trace;
  }

  /** Returns the name of the lock, which no other run uses. */
  public String name() {
    return name;
  }

  /** Closes {@code something} with this stage. */
  public <T extends AutoCloseable> T own(T something) {
    opened.push(something);
    return something;
  }

  /** Returns a connection of its own to the Redis server. */
  public RedisCommands<String, String> redis() {
    return redis(ground.redis().url());
  }

  /** Returns a connection of its own to the Redis server at {@code url}. */
  public RedisCommands<String, String> redis(String url) {
    RedisClient client = RedisClient.create(url);
    own(() -> client.shutdown(Duration.ZERO, Duration.ofSeconds(2)));
    return client.connect().sync();
  }

  /** Returns a connection of its own to the MySQL server, in autocommit mode. */
  public Connection mysql() throws SQLException {
    return own(DriverManager.getConnection(ground.mysqlUrl()));
  }

  /** Returns a client of Pawl's that waits for nobody when it closes. */
  public Pawl pawl(String url) {
    PawlOptions options =
        PawlOptions.defaults().shutdownGrace(Duration.ZERO).patience(Duration.ofSeconds(30));
    return own(Pawl.connect(url, options));
  }

  /** Returns a client of Pawl's on the service that the specimen runs on. */
  public Pawl pawl(Service service) {
    return pawl(url(service));
  }

  /** Returns Pawl's URL of the server. */
  public String url(Service service) {
    return switch (service) {
      case REDIS -> ground.redis().url();
      case MYSQL -> ground.mysqlUrl();
      case POSTGRES -> ground.postgresUrl(ground.postgres().jdbcUrl());
      case ZOOKEEPER ->
          "zk://" + ground.zooKeeper().address() + "/lab?tick=" + Ground.TICK_MILLIS + "ms";
      case ETCD -> "etcd://" + ground.etcd().host() + ":" + ground.etcd().port() + "/lab";
    };
  }

  /** Returns a proxy before the Redis server. */
  public FaultProxy redisProxy() {
    return own(FaultProxy.before(ground.redis()));
  }

  /** Returns a client of Pawl's whose network to Redis is {@code proxy}. */
  public Pawl pawlOnRedis(FaultProxy proxy) {
    return pawl("redis://" + proxy.host() + ":" + proxy.port());
  }

  /** Returns a JVM of its own that takes the lock of this run, or stands in line for it. */
  public Actor actor(Service service) {
    return actor(url(service));
  }

  /** As {@link #actor(Service)}, by Pawl's {@code url}. */
  public Actor actor(String url) {
    return own(new Actor(Map.of(), url, name, LEASE, true));
  }

  /** As {@link #actor(Service)}, whose wall clock is {@code ahead}, and which does not wait. */
  public Actor actorAhead(Service service, Duration ahead) {
    return own(new Actor(ClockLibrary.ahead(ahead), url(service), name, LEASE, false));
  }

  /** Returns the options of a lock with {@link #LEASE}. */
  public static LockOptions shortLease() {
    return LockOptions.defaults().lease(LEASE);
  }

  /** Returns the options of a lock with {@link #RENEWED}. */
  public static LockOptions renewedLease() {
    return LockOptions.defaults().lease(RENEWED);
  }

  /** Notes a lease of Pawl's as a hold, until it knows itself that it is lost. */
  public void holds(String actor, String text, Lease lease) {
    trace.holds(actor, text + " → token " + lease.token(), lease.token(), lease::isValid);
  }

  /**
   * Sends a write to a resource that refuses smaller tokens than it has seen.
   *
   * @return whether it was accepted
   */
  public boolean fencedWrite(String actor, long token) {
    try {
      fence.accept(name, token);
      trace.writes(actor, "write with token " + token + " → accepted");
      return true;
    } catch (StaleTokenException e) {
      trace.fenced(actor, "write with token " + token + " → the fence refuses it");
      return false;
    }
  }

  /** Runs {@code task} on a thread of its own. */
  public <T> CompletableFuture<T> async(Callable<T> task) {
    CompletableFuture<T> result = new CompletableFuture<>();
    THREADS.execute(
        () -> {
          try {
            result.complete(task.call());
          } catch (Exception e) {
            result.completeExceptionally(e);
          }
        });
    return result;
  }

  /** Returns what comes of {@code future}, with a bound. */
  public <T> T get(CompletableFuture<T> future) throws InterruptedException, ExecutionException {
    try {
      return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new LabException("a step did not end within " + PATIENCE.toSeconds() + " s", e);
    }
  }

  /** Returns once {@code condition} holds. */
  public void await(String what, Callable<Boolean> condition) throws Exception {
    if (!holdsWithin(PATIENCE, condition)) {
      throw new LabException("not within " + PATIENCE.toSeconds() + " s: " + what);
    }
  }

  /** Returns whether {@code condition} holds within {@code bound}; it is asked again and again. */
  public boolean holdsWithin(Duration bound, Callable<Boolean> condition) throws Exception {
    long startNanos = System.nanoTime();
    while (!condition.call()) {
      if (System.nanoTime() - startNanos > bound.toNanos()) {
        return false;
      }
      Thread.sleep(POLL_MILLIS);
    }
    return true;
  }

  @Override
  public void close() throws Exception {
    Exception first = null;
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
