package io.pawl.etcd.gateway;

import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.etcd.gateway.RefusedException.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The JSON gateway of a cluster. Requests are carried by a few connections, each with a thread of
 * its own that blocks; transactions that wait for a connection travel together, as one transaction.
 * Every stage completes within about twice the timeout, after a failure with a {@link
 * StoreException}. Stages complete on the connections' threads.
 *
 * <p>A request that found no connection was certainly not sent and goes to the next member at once.
 * A request that was sent and not answered is repeated only if it changes nothing or is harmless to
 * repeat ({@link #call}); the next request goes to the next member. Thread-safe.
 */
public final class Gateway implements AutoCloseable {

  /** Of transactions. More would only make smaller batches. */
  private static final int WORK_CONNECTIONS = 4;

  /** Of leases: a grant waits for etcd's disk, and no keep-alive waits for a grant. */
  private static final int UPKEEP_CONNECTIONS = 2;

  /** Instead of a token: etcd's authentication is off, which is found out anew when it is on. */
  private static final String NONE_ASKED = "";

  /** Set on threads that would wait for the next transaction's answer. */
  private static final ThreadLocal<Boolean> AWAITED = new ThreadLocal<>();

  private final Target target;
  private final Failures failures;
  private final Endpoints endpoints;
  private final Hosts hosts;
  private final WriteLimits limits = new WriteLimits();
  private final Lanes work;
  private final Lanes upkeep;
  private final Lanes looks;
  private final ReentrantLock authentication = new ReentrantLock();
  private volatile @Nullable String token;
  private volatile long term;

  /** The largest of any answer's, in the present history. */
  private final AtomicLong revision = new AtomicLong();

  private final AtomicLong history = new AtomicLong();

  private final ReentrantLock membership = new ReentrantLock();

  /** 0 before the first answer. */
  private volatile long cluster;

  /** Those that answered as members of it. */
  private final Set<Endpoint> members = ConcurrentHashMap.newKeySet();

  private volatile boolean closed;

  public Gateway(Target target) {
    this(target, InetAddress::getByName);
  }

  /**
   * @param search looks for the members' hosts
   */
  Gateway(Target target, Hosts.Search search) {
    this.target = target;
    this.hosts = new Hosts(search);
    this.failures = new Failures(target.shown());
    this.endpoints = new Endpoints(target.endpoints());
    this.work = new Lanes(this, failures, "pawl-etcd-", WORK_CONNECTIONS);
    this.upkeep = new Lanes(this, failures, "pawl-etcd-upkeep-", UPKEEP_CONNECTIONS);
    this.looks = new Lanes(this, failures, "pawl-etcd-look-", 1);
  }

  public Target target() {
    return target;
  }

  public Failures failures() {
    return failures;
  }

  /** Carries out a transaction. One round trip. */
  public CompletableFuture<TxnReply> txn(Txn txn) {
    CompletableFuture<TxnReply> reply = new CompletableFuture<>();
    Call call = Call.of(txn, reply, target.timeout());
    boolean waits = AWAITED.get() != null;
    if (waits) {
      AWAITED.remove(); // what follows from its answer may be others' requests
    }
    if (!waits || !work.carriesHere(call)) {
      work.submit(call);
    }
    return reply;
  }

  /**
   * Runs {@code requests} on a thread that waits for their answers anyway. It carries the first
   * transaction itself if a connection is free.
   */
  public void awaited(Runnable requests) {
    if (!isPlatform(Thread.currentThread())) {
      requests.run();
      return;
    }
    AWAITED.set(true);
    try {
      requests.run();
    } finally {
      AWAITED.remove();
    }
  }

  /** An interrupt closes the connection under a virtual thread. */
  private static boolean isPlatform(Thread thread) {
    return !thread.getClass().getName().contains("VirtualThread");
  }

  /** As {@link #txn}, for reads of any length, which delay no other request. */
  public CompletableFuture<TxnReply> look(Txn txn) {
    CompletableFuture<TxnReply> reply = new CompletableFuture<>();
    looks.submit(Call.of(txn, reply, target.timeout()));
    return reply;
  }

  /**
   * Calls {@code path}, which delays no transaction, and is repeated once if no answer comes.
   *
   * @param path such as {@code /v3/lease/grant}
   */
  public CompletableFuture<Map<String, Object>> call(String path, String body) {
    return call(upkeep, path, body);
  }

  /** As {@link #call}, where many of them may come at once: delays no lease either. */
  public CompletableFuture<Map<String, Object>> lookCall(String path, String body) {
    return call(looks, path, body);
  }

  private CompletableFuture<Map<String, Object>> call(Lanes lanes, String path, String body) {
    CompletableFuture<Map<String, Object>> reply = new CompletableFuture<>();
    lanes.submit(Call.of(path, body, reply, target.timeout()));
    return reply;
  }

  /**
   * Reads {@code key}, so that a majority confirms its leader once this was called, and returns the
   * {@linkplain #termOf term} of the answer. Delays no transaction.
   */
  public CompletableFuture<Long> readTerm(String key) {
    return call("/v3/kv/range", "{\"key\":\"" + Json.encoded(key) + "\",\"count_only\":true}")
        .thenApply(Gateway::termOf);
  }

  private static long revisionOf(Map<String, Object> reply) {
    return Json.number(Json.object(reply, "header"), "revision");
  }

  /**
   * Returns a number that is another one once the cluster is known to have been restored from a
   * backup: its members are of another cluster, or its revision went back.
   */
  public long history() {
    return history.get();
  }

  /**
   * Returns the term of the last entry that the member had applied which gave this answer; 0 if it
   * does not say.
   */
  public static long termOf(Map<String, Object> reply) {
    return Json.number(Json.object(reply, "header"), "raft_term");
  }

  /** Returns the term of one of the latest answers: entries of that term have been committed. */
  public long term() {
    return term;
  }

  private long clusterIn(Map<String, Object> reply) {
    try {
      long cluster = Json.number(Json.object(reply, "header"), "cluster_id");
      if (cluster == 0) {
        throw new IllegalArgumentException("it names no cluster");
      }
      return cluster;
    } catch (IllegalArgumentException e) {
      throw failures.unreadable(e);
    }
  }

  /**
   * Compares the cluster of an answer, or of a watch's message, with that of others. Where a member
   * itself is of another cluster than before, all were restored from a backup.
   *
   * @throws StoreException if they differ, or if it names none: no member of etcd's gave it
   */
  void checkCluster(Endpoint endpoint, Map<String, Object> reply) {
    long of = clusterIn(reply);
    if (of == cluster && members.contains(endpoint)) {
      return;
    }
    membership.lock();
    try {
      if (of != cluster) {
        if (cluster != 0 && !members.contains(endpoint)) {
          endpoints.failed(endpoint);
          throw failures.stranger(endpoint, of, cluster);
        }
        if (cluster != 0) {
          revision.set(0);
          history.incrementAndGet();
        }
        members.clear();
        cluster = of;
      }
      members.add(endpoint);
    } finally {
      membership.unlock();
    }
  }

  /** Returns the largest revision of any answer's. */
  long revision() {
    return revision.get();
  }

  /**
   * Takes notice of an answer's term and revision. Reads and transactions see whatever was answered
   * before they were sent, so an answer to one of these with a smaller revision shows that the
   * cluster was restored. An answer of another kind may be behind.
   *
   * @param before the {@linkplain #revision largest} when a read or a transaction was sent, else 0
   */
  void answered(Map<String, Object> reply, long before) {
    long seen = termOf(reply);
    if (seen != 0) {
      term = seen;
    }
    long now = revisionOf(reply);
    long largest = revision.accumulateAndGet(now, Math::max);
    while (now < before && largest >= before) {
      if (revision.compareAndSet(largest, now)) {
        history.incrementAndGet();
        return;
      }
      largest = revision.get();
    }
  }

  /**
   * Asks one member, on a connection of its own. Blocks.
   *
   * @throws StoreException if it does not answer
   */
  public byte[] ask(Endpoint endpoint, String method, String path, String body) {
    long deadline = System.nanoTime() + target.timeout().toNanos();
    try (HttpConnection connection =
        HttpConnection.open(target, hosts, limits, endpoint, deadline)) {
      HttpConnection.Response response =
          connection.exchange(method, path, body, token(connection, deadline), deadline);
      if (response.status() != 200) {
        throw failures.refused(response.status(), response.body(), path);
      }
      return response.body();
    } catch (IOException e) {
      throw failures.unreachable(endpoint, e);
    }
  }

  Endpoints endpoints() {
    return endpoints;
  }

  public boolean isClosed() {
    return closed;
  }

  /**
   * Returns a connection to the current member.
   *
   * @throws StoreException when no member can be reached; nothing was sent then
   */
  HttpConnection connect(long deadline) {
    Exception pausing = endpoints.pausing();
    if (pausing != null) {
      throw failures.unreachable(null, pausing);
    }
    Endpoint endpoint = endpoints.current();
    IOException last = new IOException("no member was tried");
    for (int i = 0; i < endpoints.size(); i++) {
      endpoint = endpoints.current();
      long share = (deadline - System.nanoTime()) / (endpoints.size() - i);
      try {
        return HttpConnection.open(target, hosts, limits, endpoint, System.nanoTime() + share);
      } catch (IOException e) {
        last = e;
        endpoints.unreachable(endpoint, e);
      }
    }
    throw failures.unreachable(endpoint, last);
  }

  /** The token of this client, or null without authentication; asks for one on first use. */
  @Nullable String token(HttpConnection connection, long deadline) throws IOException {
    String known = token;
    return target.user() == null || known != null
        ? sent(known)
        : authenticate(connection, null, deadline);
  }

  private static @Nullable String sent(@Nullable String known) {
    return NONE_ASKED.equals(known) ? null : known;
  }

  /** Whether a user was given, and etcd's authentication was off when it was last asked. */
  public boolean ignoresUser() {
    return NONE_ASKED.equals(token);
  }

  /** Asks for a new token, unless another thread has got one since {@code stale}. */
  @Nullable String authenticate(HttpConnection connection, @Nullable String stale, long deadline)
      throws IOException {
    String user = target.user();
    if (user == null) {
      throw new StoreDeniedException(
          "store '" + target + "' asks for authentication; give user and password in the URL");
    }
    if (!locked(deadline)) {
      throw new SocketTimeoutException("another request is being authenticated");
    }
    try {
      String known = token;
      if (known != null && !known.equals(stale)) {
        return sent(known);
      }
      String password = target.password() == null ? "" : target.password();
      String body = Json.of(Map.of("name", user, "password", password));
      String path = "/v3/auth/authenticate";
      String fresh = tokenIn(connection.exchange("POST", path, body, null, deadline), path);
      token = fresh;
      return fresh;
    } catch (StoreException e) {
      if (RefusedException.is(e, Reason.AUTHENTICATION_OFF)) {
        token = NONE_ASKED;
        return null;
      }
      if (!(e instanceof RefusedException)) {
        endpoints.failed(connection.endpoint());
      }
      throw e;
    } finally {
      authentication.unlock();
    }
  }

  private String tokenIn(HttpConnection.Response response, String path) {
    if (response.status() != 200) {
      throw failures.refused(response.status(), response.body(), path);
    }
    try {
      String fresh = Json.text(Json.object(response.body()), "token");
      if (fresh.isEmpty()) {
        throw new IllegalArgumentException("it has no token");
      }
      return fresh;
    } catch (IllegalArgumentException e) {
      throw failures.unreadable(e);
    }
  }

  private boolean locked(long deadline) {
    try {
      return authentication.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Whether a token that etcd no longer knows is the reason. */
  static boolean isTokenInvalid(StoreException refusal) {
    return RefusedException.is(refusal, Reason.TOKEN_INVALID);
  }

  /** Ends all connections and threads; requests under way fail. Idempotent. */
  @Override
  public void close() {
    closed = true;
    hosts.close(); // first, so that no lane that is closed waits for a connection in the making
    limits.close();
    List<Lanes> all = new ArrayList<>(List.of(work, upkeep, looks));
    all.forEach(Lanes::close);
  }
}
