package io.pawl.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pawl.concurrent.Futures;
import io.pawl.redis.Scripts.Script;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Has grants confirmed by replicas, each once, before the engine hears of them: a renewal of the
 * claim, so that the connection has written something after the grant, and then a WAIT.
 *
 * <p>A WAIT holds up its connection. So confirmations have a connection of their own, and each
 * primary is asked one WAIT at a time, for all grants that came in the meantime. A grant that has
 * waited for its turn as long as an answer may take is not confirmed: a turn takes twice that time
 * at most, so all is told within three times.
 *
 * <p>A grant that too few replicas confirm stays what it is at the server: to ask again or to
 * withdraw is the engine's part.
 */
final class Confirmations implements AutoCloseable {

  private static final int MOST_IN_A_WAIT = 256;

  /** So many new grants later those are looked for of which nobody speaks any more. */
  static final int SWEEP_EVERY = 1_000;

  /**
   * A grant that this store has seen.
   *
   * @param awaited whether the engine takes the claim for waiting until its bell rings
   * @param seenAtNanos when its confirmation was asked for
   * @param heardAtNanos when it was last renewed
   */
  record Grant(
      Claim claim,
      Standing.Held held,
      boolean awaited,
      long seenAtNanos,
      AtomicLong heardAtNanos,
      CompletableFuture<Void> confirmed) {

    boolean isOf(Standing.Held tokens) {
      return held.isSameAs(tokens);
    }

    /** Nobody has spoken of it for two leases and a minute: it was left to run out. */
    boolean isForgotten(long nowNanos) {
      return nowNanos - heardAtNanos.get() > 2 * claim.lease().toNanos() + 60_000_000_000L;
    }
  }

  private final Servers servers;
  private final Wire wire;
  private final Verbs verbs;
  private final Failures failures;
  private final Script renew;
  private final String address;
  private final RedisOptions options;
  private final LongSupplier nanoTime;
  private final ObjIntConsumer<List<Object>> rings;

  /** From the first sight of a grant until its claim is withdrawn, gone, or forgotten. */
  private final ConcurrentHashMap<ClaimId, Grant> grants = new ConcurrentHashMap<>();

  private final AtomicInteger sinceSweep = new AtomicInteger();

  private final Map<Integer, Lane> lanes = new ConcurrentHashMap<>();

  /**
   * @param wire for confirmations alone; closed with this
   * @param address of the store, where scripts of others ring
   * @param rings told of each renewal's reply, and where in it the rings begin
   */
  Confirmations(
      Servers servers,
      Wire wire,
      Failures failures,
      Script renew,
      String address,
      RedisOptions options,
      LongSupplier nanoTime,
      ObjIntConsumer<List<Object>> rings) {
    this.servers = servers;
    this.wire = wire;
    this.verbs = new Verbs(wire, failures);
    this.failures = failures;
    this.renew = renew;
    this.address = address;
    this.options = options;
    this.nanoTime = nanoTime;
    this.rings = rings;
  }

  /** Has the grant confirmed, again where that has failed before. */
  CompletableFuture<Void> of(Claim claim, Standing.Held held, boolean awaited) {
    long now = nanoTime.getAsLong();
    Grant fresh =
        new Grant(claim, held, awaited, now, new AtomicLong(now), new CompletableFuture<>());
    Grant grant =
        grants.compute(
            claim.id(),
            (id, known) ->
                known != null && known.isOf(held) && !known.confirmed.isCompletedExceptionally()
                    ? known
                    : fresh);
    if (grant == fresh) {
      if (sinceSweep.incrementAndGet() % SWEEP_EVERY == 0) {
        grants.values().removeIf(each -> each.isForgotten(now));
      }
      int server = servers.server(wire.connection(), Keys.of(claim.lock()));
      lanes.computeIfAbsent(server, number -> new Lane()).add(grant);
    }
    return grant.confirmed;
  }

  /** The grant, null where {@link #of} was not asked for it. */
  @Nullable Grant known(ClaimId id, Standing.Held held) {
    Grant grant = grants.get(id);
    if (grant == null || !grant.isOf(held)) {
      return null;
    }
    grant.heardAtNanos.set(nanoTime.getAsLong());
    return grant;
  }

  /** {@code id} is not held any more. */
  void forget(ClaimId id) {
    grants.remove(id);
  }

  /** The grants of one primary's locks. */
  private final class Lane {
    private final Queue<Grant> queue = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean asking = new AtomicBoolean();

    void add(Grant grant) {
      queue.add(grant);
      next();
    }

    private void next() {
      while (!queue.isEmpty() && asking.compareAndSet(false, true)) {
        List<Grant> batch = List.of();
        List<Grant> late = List.of();
        try {
          late = new ArrayList<>(0);
          batch = new ArrayList<>();
          takeNext(batch, late);
        } catch (RuntimeException | Error e) { // of memory: what was taken is asked for
          if (batch.isEmpty() && late.isEmpty()) {
            failFirst(e);
          }
        } finally {
          if (batch.isEmpty()) {
            asking.set(false);
          } else {
            ask(batch);
          }
        }
        late.forEach(grant -> fail(grant, tooLate()));
      }
    }

    private void takeNext(List<Grant> batch, List<Grant> late) {
      long timeoutNanos = options.timeout().toNanos();
      long now = nanoTime.getAsLong();
      Grant grant = queue.peek();
      while (grant != null && batch.size() < MOST_IN_A_WAIT) {
        (now - grant.seenAtNanos < timeoutNanos ? batch : late).add(grant);
        queue.remove();
        grant = queue.peek();
      }
    }

    private void failFirst(Throwable error) {
      Grant first = queue.poll();
      if (first != null) {
        fail(first, error);
      }
    }

    private void ask(List<Grant> batch) {
      try {
        Futures.caught(() -> confirm(batch))
            .whenComplete((nothing, error) -> answered(batch, error));
      } catch (Error e) { // of memory: nobody will hear of the answer
        asking.set(false);
        batch.forEach(grant -> fail(grant, e));
      }
    }

    private void answered(List<Grant> batch, @Nullable Throwable error) {
      asking.set(false);
      try {
        if (error != null) {
          batch.forEach(grant -> fail(grant, error));
        }
      } finally {
        next();
      }
    }
  }

  private CompletableFuture<Void> confirm(List<Grant> batch) {
    return wire.nodeOf(Keys.of(batch.get(0).claim.lock()))
        .thenCompose(
            node -> {
              Breaks breaks = new Breaks();
              node.addListener(breaks);
              return confirm(batch, node, breaks)
                  .whenComplete((nothing, error) -> node.removeListener(breaks));
            });
  }

  private CompletableFuture<Void> confirm(
      List<Grant> batch, StatefulRedisConnection<String, String> node, Breaks breaks) {
    List<CompletableFuture<Boolean>> answered =
        batch.stream().map(grant -> renewed(grant, node)).toList();
    return CompletableFuture.allOf(answered.toArray(CompletableFuture[]::new))
        .thenCompose(
            nothing ->
                answered.stream().allMatch(CompletableFuture::join) && !breaks.areSome()
                    ? replicated(batch, node, breaks)
                    : CompletableFuture.failedFuture(lostConnection()));
  }

  /** Whether a connection was opened again, elsewhere perhaps: its WAIT knows of nothing before. */
  private static final class Breaks implements RedisConnectionStateListener {

    private volatile boolean some;

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> connection, SocketAddress to) {
      some = true;
    }

    @Override
    public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
      some = true;
    }

    boolean areSome() {
      return some;
    }
  }

  /**
   * Fails the grant where the server no longer knows it; the stage itself never fails.
   *
   * @return whether the server has answered: if not, the connection may be another by now, whose
   *     WAIT knows nothing of what the first has written
   */
  private CompletableFuture<Boolean> renewed(
      Grant grant, StatefulRedisConnection<String, String> node) {
    return verbs
        .run(
            renew,
            List.of(Keys.of(grant.claim.lock())),
            Replies.addressAndIds(address, List.of(grant.claim)),
            node)
        .thenApply(
            reply -> {
              Standing standing = Replies.standing(grant.claim, reply, 0, failures);
              rings.accept(reply, 2);
              if (!(standing instanceof Standing.Held held) || !grant.isOf(held)) {
                grants.remove(grant.claim.id(), grant);
                fail(grant, noLongerKnown());
              }
              return true;
            })
        .exceptionally(
            error -> {
              fail(grant, error);
              return failures.mayConcernOneClaim(error);
            });
  }

  /**
   * @param node that the renewals went through: WAIT is about what its own connection has written
   */
  private CompletableFuture<Void> replicated(
      List<Grant> batch, StatefulRedisConnection<String, String> node, Breaks breaks) {
    if (batch.stream().allMatch(grant -> grant.confirmed.isDone())) {
      return CompletableFuture.completedFuture(null);
    }
    CommandArgs<String, String> args =
        new CommandArgs<>(StringCodec.UTF8)
            .add(options.waitReplicas())
            .add(options.waitTimeout().toMillis());
    return wire.send(CommandType.WAIT, args, node)
        .thenAccept(
            reply -> {
              long count = reply.get(0) instanceof Long number ? number : 0;
              if (breaks.areSome()) {
                throw lostConnection();
              }
              if (count < options.waitReplicas()) {
                throw tooFew(count);
              }
              batch.forEach(grant -> grant.confirmed.complete(null));
            });
  }

  private RuntimeException noLongerKnown() {
    return failures.unavailable("no longer knows the claim that it has granted", null);
  }

  private RuntimeException lostConnection() {
    return failures.unavailable("lost the connection of a confirmation", null);
  }

  private RuntimeException tooLate() {
    return failures.unavailable(
        "was busy with confirmations of other grants for "
            + options.timeout().toMillis()
            + " ms, so this one is not used; see what holds up the replicas, or lower waitReplicas",
        null);
  }

  private RuntimeException tooFew(long count) {
    return failures.unavailable(
        "had a grant confirmed by "
            + count
            + " of "
            + options.waitReplicas()
            + " replicas within "
            + options.waitTimeout().toMillis()
            + " ms, so it is not used; see what holds up the replicas, or lower waitReplicas",
        null);
  }

  private void fail(Grant grant, Throwable error) {
    grant.confirmed.completeExceptionally(failures.of(error));
  }

  /** As its Sentinels say. */
  void named(Servers.Primary primary) {
    wire.named(primary);
  }

  @Override
  public void close() {
    wire.close();
  }
}
