package io.pawl.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.pawl.concurrent.KeptInterrupts;
import io.pawl.error.NameInUseException;
import io.pawl.error.StoreException;
import io.pawl.redis.Bells.Waiting;
import io.pawl.redis.Confirmations.Grant;
import io.pawl.redis.Scripts.Script;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Locks on Redis (7.0 or newer) or Valkey (8 or newer): a single server, a server behind Sentinels,
 * or a Cluster. Each verb is one Lua script on the one key of its lock, and decides by the server's
 * clock: one round trip to take a free lock, one to release it, and no subscription. The first
 * claim that has to wait opens a second connection, on which this store's waiters are notified. If
 * a notification is lost, the next renewal finds the grant.
 *
 * <p>A grant lives as long as its key: a failover to a replica that lacks the key, a FLUSHALL or an
 * eviction can let two holders in, as with any lock on Redis. Tokens rise all the same, since they
 * follow the server's clock; docs/REDIS.md says how far that reaches. Counters are data and never
 * expire; an acknowledged change is as durable as that Redis.
 *
 * <p>Every stage completes within about twice {@link RedisOptions#timeout}, an attempt within about
 * five times that if replicas confirm grants. Thread-safe. Stages complete, and bells ring, on
 * Lettuce's threads.
 */
public final class RedisStore implements QuorumNode, Inspectable, Diagnosable, CounterStore {

  /** How many claims one renewal carries: the server is busy with it for about a millisecond. */
  private static final int RENEW_BATCH = 256;

  private static final long DAY_MILLIS = 86_400_000;

  /** As a lock's tokens follow the server's clock. */
  static final int TOKENS_PER_MICROSECOND = 2;

  private final Servers servers;
  private final Failures failures;
  private final RedisOptions options;
  private final Wire wire;
  private final Verbs verbs;

  /** One for all locks, in a Cluster one for each slot that was used. */
  private final Map<Integer, Combiner> combiners = new ConcurrentHashMap<>();

  private final Scripts scripts;
  private final Bells bells;

  /** Null where no replica is to confirm anything. */
  private final @Nullable Confirmations confirmations;

  private final Servers.Watch watch;
  private final RedisCounters counters;
  private final String address;

  /** Null where it is no node of a quorum. */
  private volatile Scripts.@Nullable Voting voting;

  /**
   * The largest token that this store has seen on any lock. Tokens follow time, so it is the latest
   * server time known; as a floor it keeps tokens rising should a server's clock go back.
   */
  private final AtomicLong highestToken = new AtomicLong();

  private RedisStore(Servers servers, RedisOptions options, Scripts scripts, boolean tls) {
    this.servers = servers;
    this.options = options;
    this.scripts = scripts;
    this.failures = new Failures(servers.describe());
    this.address = Bells.newAddress();
    this.wire = Handshake.connect(servers, failures, options, tls);
    this.verbs = new Verbs(wire, failures);
    this.counters = new RedisCounters(verbs, servers, scripts, options);
    this.bells = new Bells(servers, wire, address, this::catchUp, this::deliver);
    this.confirmations = options.waitReplicas() == 0 ? null : confirmations(tls);
    this.watch = servers.watch(wire, this::named);
  }

  private void named(Servers.Primary primary) {
    wire.named(primary);
    bells.named(primary);
    if (confirmations != null) {
      confirmations.named(primary);
    }
  }

  /**
   * Connects to {@code url}, whose form {@link RedisProvider} explains. Close the store at the end.
   *
   * @throws IllegalArgumentException for an invalid URL, naming the part
   * @throws StoreException when the server cannot be reached or used, saying what to change
   */
  public static RedisStore connect(String url) {
    return connect(RedisUrl.parse(StoreUrl.parse(url)), Scripts.load());
  }

  static RedisStore connect(RedisUrl url, Scripts scripts) {
    return opened(() -> Clients.open(url), url.options(), scripts, url.tls());
  }

  /**
   * Returns a store over a client that stays the caller's: closing the store closes the connections
   * that it opened, not the client.
   *
   * @param client whose options have {@code autoReconnect}, as Lettuce's defaults do
   * @param uri the server, or the Sentinels with the name of the primary
   * @throws IllegalArgumentException when the client does not reconnect
   * @throws StoreException when the server cannot be reached or used
   */
  public static RedisStore over(RedisClient client, RedisURI uri, RedisOptions options) {
    checkReconnects(client.getOptions());
    return opened(
        () ->
            new OneServer(
                client, uri, false, List.of(Keys.shown(uri)), "redis://" + Keys.shown(uri)),
        options,
        Scripts.load(),
        uri.isSsl());
  }

  /** As {@link #over(RedisClient, RedisURI, RedisOptions)}, for a Cluster. */
  public static RedisStore over(RedisClusterClient client, RedisOptions options) {
    checkReconnects(client.getOptions());
    return opened(
        () -> new ManyServers(client, false, List.of("the client's own"), "redis-cluster://"),
        options,
        Scripts.load(),
        false);
  }

  /** A connection that has ended is Lettuce's to open again; a store replaces silent ones alone. */
  private static void checkReconnects(ClientOptions options) {
    if (!options.isAutoReconnect()) {
      throw new IllegalArgumentException(
          "client of a Redis store: autoReconnect is off, so the store would end with its first"
              + " connection; set ClientOptions.builder().autoReconnect(true), or give the store a"
              + " client of its own");
    }
  }

  private static RedisStore opened(
      Supplier<Servers> open, RedisOptions options, Scripts scripts, boolean tls) {
    try (KeptInterrupts kept = new KeptInterrupts()) {
      kept.clear(); // Lettuce and Netty lose one as they start their threads
      Servers servers = open.get();
      try {
        return new RedisStore(servers, options, scripts, tls);
      } catch (RuntimeException | Error e) {
        servers.close();
        throw e;
      }
    }
  }

  private Confirmations confirmations(boolean tls) {
    try {
      Wire second = Handshake.another(servers, failures, options, tls);
      return new Confirmations(
          servers,
          second,
          failures,
          scripts.renew(),
          address,
          options,
          System::nanoTime,
          this::hear);
    } catch (RuntimeException | Error e) {
      wire.close();
      throw e;
    }
  }

  /** One round trip, and two more if replicas have to confirm. */
  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    if (claim.queues()) {
      bells.add(claim, bell);
    }
    CompletableFuture<Standing> told = new CompletableFuture<>();
    Scripts.Voting vote = voting;
    long floor =
        vote == null ? Math.max(claim.tokenFloor(), highestToken.get()) : claim.tokenFloor();
    combiner(claim)
        .run(
            vote == null ? scripts.attempt() : vote.attempt(),
            2,
            Keys.of(claim.lock()),
            Stored.asked(claim, floor))
        .whenComplete(
            (reply, error) -> {
              try {
                attempted(claim, reply, error, told);
              } catch (RuntimeException | Error e) { // of memory, mostly: the engine waits
                bells.remove(claim.id());
                told.completeExceptionally(failures.of(e));
              }
            });
    return told;
  }

  private void attempted(
      Claim claim,
      @Nullable List<Object> reply,
      @Nullable Throwable error,
      CompletableFuture<Standing> told) {
    if (reply == null) {
      bells.remove(claim.id());
      told.completeExceptionally(failures.of(error));
      return;
    }
    Standing standing = Replies.standing(claim, reply, 0, failures);
    if (standing instanceof Standing.Held held) {
      bells.remove(claim.id());
      confirmed(claim, held, false)
          .whenComplete(
              (nothing, unconfirmed) -> {
                if (unconfirmed == null) {
                  told.complete(held);
                } else {
                  told.completeExceptionally(failures.unconfirmed(unconfirmed));
                }
              });
      return;
    }
    if (standing instanceof Standing.Waiting) {
      bells.listen();
    } else {
      bells.remove(claim.id());
    }
    told.complete(standing);
  }

  /** Completes when the engine may hear of the grant; fails where too few replicas have it. */
  private CompletableFuture<Void> confirmed(Claim claim, Standing.Held held, boolean awaited) {
    learn(held);
    return confirmations == null
        ? CompletableFuture.completedFuture(null)
        : confirmations.of(claim, held, awaited);
  }

  /** A token far from our own time follows somebody's floor, and must not spread to other locks. */
  private void learn(Standing.Held held) {
    long token = held.lastToken();
    long latest = (System.currentTimeMillis() + DAY_MILLIS) * 1000 * TOKENS_PER_MICROSECOND;
    if (token > highestToken.get() && token < latest) {
      highestToken.accumulateAndGet(token, Math::max);
    }
  }

  /** A bell has rung for a waiter. */
  private void deliver(Waiting waiter, Standing.Held held) {
    confirmed(waiter.claim(), held, true).thenRun(() -> waiter.bell().ring(held));
  }

  /**
   * {@inheritDoc}
   *
   * <p>The server notes its run id, since when it remembers, and how far its tokens were raised in
   * the key {@code pawl:quorum}, and looks at it whenever it answers an attempt.
   */
  @Override
  public void joinQuorum(Duration longestLease) {
    if (!servers.mode().equals("standalone")) {
      throw new IllegalArgumentException(
          "store '" + describe() + "': a node of a quorum is one server; a Cluster is many");
    }
    voting = Scripts.Voting.load(longestLease);
  }

  /** One round trip. */
  @Override
  public CompletionStage<Incarnation> incarnation() {
    return asVoter(List.of(""));
  }

  /** One round trip. */
  @Override
  public CompletionStage<Void> trust() {
    return asVoter(List.of("trust")).thenApply(voter -> null);
  }

  /** One round trip. */
  @Override
  public CompletionStage<Void> raise(Incarnation known, long above) {
    return asVoter(List.of("raise", Long.toString(known.since()), Long.toString(above)))
        .thenApply(voter -> null);
  }

  private CompletionStage<Incarnation> asVoter(List<String> order) {
    Scripts.Voting vote = voting;
    if (vote == null) {
      throw new IllegalStateException("store '" + describe() + "' is no node of a quorum");
    }
    return verbs
        .run(vote.incarnation(), List.of(), order)
        .thenApply(
            reply -> {
              if (reply.size() == 6
                  && reply.get(1) instanceof Long votesIn
                  && reply.get(3) instanceof Long since
                  && reply.get(4) instanceof Long raised
                  && reply.get(5) instanceof Long highest) {
                return new Incarnation(
                    "Redis " + reply.get(0),
                    Duration.ofMillis(votesIn),
                    since,
                    raised == 1,
                    highest);
              }
              throw failures.unavailable("answered a script with nonsense", null);
            });
  }

  /** One round trip per batch; in a Cluster one command per slot, to all nodes at once. */
  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    return Renewal.of(claims, RENEW_BATCH, this::group, failures, this::standings)
        .thenCompose(
            standings -> {
              standings.forEach(this::renewed);
              return confirmations == null
                  ? CompletableFuture.completedFuture(standings)
                  : certain(claims, standings, confirmations);
            });
  }

  /**
   * The standings that the engine may hear of. A claim whose grant is not confirmed yet waits; one
   * whose grant could not be confirmed is left out, as any that failed.
   */
  private CompletableFuture<Map<ClaimId, Standing>> certain(
      Collection<Claim> claims, Map<ClaimId, Standing> standings, Confirmations confirming) {
    Map<ClaimId, Standing> certain = new HashMap<>(standings);
    CompletableFuture<Map<ClaimId, Standing>> answer = CompletableFuture.completedFuture(certain);
    for (Claim claim : claims) {
      ClaimId id = claim.id();
      Standing standing = standings.get(id);
      if (!(standing instanceof Standing.Held held)) {
        continue;
      }
      boolean waits = bells.has(id);
      bells.ring(id, held);
      Grant known = confirming.known(id, held);
      CompletableFuture<Void> confirmed =
          known == null ? confirming.of(claim, held, waits) : known.confirmed();
      if (!confirmed.isDone() && (known == null ? waits : known.awaited())) {
        certain.put(id, new Standing.Waiting(options.waitTimeout()));
      } else if (!confirmed.isDone() || confirmed.isCompletedExceptionally()) {
        certain.remove(id);
        answer = certain.isEmpty() ? confirmed.thenApply(nothing -> certain) : answer;
      }
    }
    return answer;
  }

  private Combiner combiner(Claim claim) {
    return combiners.computeIfAbsent(
        group(claim),
        slot ->
            new Combiner(
                verbs, address, options.timeout().toNanos(), System::nanoTime, this::hear));
  }

  private int group(Claim claim) {
    return servers.group(Keys.of(claim.lock()));
  }

  private CompletableFuture<Map<ClaimId, Standing>> standings(List<Claim> claims) {
    return verbs
        .run(
            scripts.renew(),
            claims.stream().map(claim -> Keys.of(claim.lock())).toList(),
            Replies.addressAndIds(address, claims))
        .thenApply(
            reply -> {
              Map<ClaimId, Standing> standings = Replies.standings(claims, reply, failures);
              hear(reply, 2 * claims.size());
              return standings;
            });
  }

  private void renewed(ClaimId id, Standing standing) {
    if (standing instanceof Standing.Held held) {
      learn(held);
      if (bells.has(id)) {
        bells.missed();
        if (confirmations == null) {
          bells.remove(id);
        }
      }
    } else if (!(standing instanceof Standing.Waiting)) {
      forget(id);
    }
  }

  /** It neither waits nor is held. */
  private void forget(ClaimId id) {
    bells.remove(id);
    if (confirmations != null) {
      confirmations.forget(id);
    }
  }

  /** Bells may have been lost: asks for those that wait. */
  private void catchUp(List<Claim> claims) {
    Renewal.of(claims, RENEW_BATCH, this::group, failures, this::standings)
        .thenAccept(
            standings ->
                standings.forEach(
                    (id, standing) -> {
                      if (standing instanceof Standing.Held held) {
                        bells.ring(id, held);
                      }
                    }));
  }

  /** One round trip, which also grants to the next in the queue. */
  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    forget(claim.id());
    String remembered = claim.unsettled() ? Long.toString(claim.leaseMillis()) : "0";
    return combiner(claim)
        .run(
            scripts.withdraw(),
            0,
            Keys.of(claim.lock()),
            List.of(claim.id().toString(), remembered, Long.toString(claim.minHoldMillis())))
        .thenApply(
            nothing -> {
              forget(claim.id()); // an attempt's reply may have come meanwhile
              return null;
            });
  }

  /** One round trip for up to 64 claims; in a Cluster one for each slot, all at once. */
  @Override
  public void together(Runnable calls) {
    Combiner.together(calls);
  }

  /** One round trip. */
  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return correct(scripts.evict(), lock, token);
  }

  /** One round trip. */
  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return correct(scripts.kind(), lock, kind.capacity());
  }

  private CompletionStage<Boolean> correct(Script script, String lock, long number) {
    return verbs
        .run(script, List.of(Keys.of(lock)), List.of(address, Long.toString(number)))
        .thenApply(
            reply -> {
              if (reply.contains(Replies.IS_A_COUNTER)) {
                throw NameInUseException.byCounter(lock);
              }
              hear(reply, 1);
              return !reply.isEmpty() && reply.get(0).equals(1L);
            });
  }

  private void hear(List<Object> reply, int from) {
    for (int i = from; i < reply.size(); i += Replies.RING_LENGTH) {
      ClaimId id = Replies.id(reply, i, failures);
      bells.ring(id, Replies.granted(id, reply, i + 1, failures));
    }
  }

  /**
   * Walks the whole key space of every primary, a thousand keys at a time. Keys with other data are
   * left out.
   */
  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    return new Inspection(wire, servers, verbs, scripts.show(), failures).list(limit);
  }

  /** One round trip. */
  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return new Inspection(wire, servers, verbs, scripts.show(), failures).show(lock);
  }

  /**
   * One round trip, as for all operations on counters; in a Cluster the counters of a basket must
   * be in one slot.
   */
  @Override
  public CompletionStage<CounterAnswer> apply(CounterRequest request) {
    return counters.apply(request);
  }

  @Override
  public CompletionStage<Optional<CounterView>> read(String counter) {
    return counters.read(counter);
  }

  @Override
  public CompletionStage<List<LedgerEntry>> history(String counter, int limit) {
    return counters.history(counter, limit);
  }

  /** As {@link #list(int)}, and one trip for each counter. */
  @Override
  public CompletionStage<List<CounterView>> list(String after, int limit) {
    return new Inspection(wire, servers, verbs, scripts.show(), failures)
        .keys(Keys.COUNTERS)
        .handle(
            (keys, error) -> {
              if (error != null) {
                throw failures.of(error);
              }
              return keys.tailSet(Keys.ofCounter(after), false).stream().map(Keys::counterOf);
            })
        .thenCompose(names -> counters.read(names, limit));
  }

  @Override
  public CompletionStage<Long> prune(String counter, Instant before) {
    return counters.prune(counter, before.toEpochMilli());
  }

  @Override
  public List<Finding> diagnose() {
    try (KeptInterrupts kept = new KeptInterrupts()) {
      kept.clear(); // Lettuce's search for the nodes of a Cluster would end at once
      return new Doctor(wire, servers, failures, options).examine();
    }
  }

  @Override
  public int renewBatch() {
    return RENEW_BATCH;
  }

  /** By primary. */
  @Override
  public int renewGroup(Claim claim) {
    return servers.server(wire.connection(), Keys.of(claim.lock()));
  }

  @Override
  public String describe() {
    return servers.describe();
  }

  /** How long a request may stay unanswered. */
  Duration timeout() {
    return options.timeout();
  }

  @Override
  public void close() {
    watch.close();
    bells.close();
    if (confirmations != null) {
      confirmations.close();
    }
    wire.close();
    servers.close();
  }

  @Override
  public String toString() {
    return "RedisStore[" + describe() + "]";
  }
}
