package io.pawl.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pawl.redis.Scripts.Script;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
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

  /**
   * A grant that this store has seen.
   *
   * @param awaited whether the engine takes the claim for waiting until its bell rings
   * @param seenAtNanos when its confirmation was asked for
   */
  record Grant(
      Claim claim,
      Standing.Held held,
      boolean awaited,
      long seenAtNanos,
      CompletableFuture<Void> confirmed) {

    boolean isOf(Standing.Held tokens) {
      return held.isSameAs(tokens);
    }
  }

  private final Servers servers;
  private final Wire wire;
  private final Verbs verbs;
  private final Failures failures;
  private final Script renew;
  private final String address;
  private final RedisOptions options;
  private final ObjIntConsumer<List<Object>> rings;

  /** From the first sight of a grant until its claim is withdrawn or gone. */
  private final ConcurrentHashMap<ClaimId, Grant> grants = new ConcurrentHashMap<>();

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
      ObjIntConsumer<List<Object>> rings) {
    this.servers = servers;
    this.wire = wire;
    this.verbs = new Verbs(wire, failures);
    this.failures = failures;
    this.renew = renew;
    this.address = address;
    this.options = options;
    this.rings = rings;
  }

  /** Has the grant confirmed, again where that has failed before. */
  CompletableFuture<Void> of(Claim claim, Standing.Held held, boolean awaited) {
    Grant fresh = new Grant(claim, held, awaited, System.nanoTime(), new CompletableFuture<>());
    Grant grant =
        grants.compute(
            claim.id(),
            (id, known) ->
                known != null && known.isOf(held) && !known.confirmed.isCompletedExceptionally()
                    ? known
                    : fresh);
    if (grant == fresh) {
      int server = servers.server(wire.connection(), Keys.of(claim.lock()));
      lanes.computeIfAbsent(server, number -> new Lane()).add(grant);
    }
    return grant.confirmed;
  }

  /** The grant, null where {@link #of} was not asked for it. */
  @Nullable Grant known(ClaimId id, Standing.Held held) {
    Grant grant = grants.get(id);
    return grant != null && grant.isOf(held) ? grant : null;
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
        List<Grant> late = new ArrayList<>(0);
        List<Grant> batch = takeNext(late);
        if (batch.isEmpty()) {
          asking.set(false);
        } else {
          ask(batch);
        }
        late.forEach(grant -> fail(grant, tooLate()));
      }
    }

    private List<Grant> takeNext(List<Grant> late) {
      List<Grant> batch = new ArrayList<>();
      long timeoutNanos = options.timeout().toNanos();
      long now = System.nanoTime();
      while (batch.size() < MOST_IN_A_WAIT) {
        Grant grant = queue.poll();
        if (grant == null) {
          break;
        }
        (now - grant.seenAtNanos < timeoutNanos ? batch : late).add(grant);
      }
      return batch;
    }

    private void ask(List<Grant> batch) {
      Failures.caught(() -> confirm(batch))
          .whenComplete(
              (nothing, error) -> {
                asking.set(false);
                if (error != null) {
                  batch.forEach(grant -> fail(grant, error));
                }
                next();
              });
    }
  }

  private CompletableFuture<Void> confirm(List<Grant> batch) {
    return wire.nodeOf(Keys.of(batch.get(0).claim.lock()))
        .thenCompose(
            node -> {
              List<CompletableFuture<Void>> renewed =
                  batch.stream().map(grant -> renewed(grant, node)).toList();
              return CompletableFuture.allOf(renewed.toArray(CompletableFuture[]::new))
                  .thenCompose(nothing -> replicated(batch, node));
            });
  }

  /** Fails the grant where the server no longer knows it; the stage itself never fails. */
  private CompletableFuture<Void> renewed(
      Grant grant, StatefulRedisConnection<String, String> node) {
    return verbs
        .run(
            renew,
            List.of(Keys.of(grant.claim.lock())),
            Replies.addressAndIds(address, List.of(grant.claim)),
            node)
        .thenAccept(
            reply -> {
              Standing standing = Replies.standing(grant.claim, reply, 0, failures);
              if (!(standing instanceof Standing.Held held) || !grant.isOf(held)) {
                grants.remove(grant.claim.id(), grant);
                throw failures.unavailable("no longer knows the claim that it has granted", null);
              }
              rings.accept(reply, 2);
            })
        .exceptionally(
            error -> {
              fail(grant, error);
              return null;
            });
  }

  /**
   * @param node that the renewals went through: WAIT is about what its own connection has written
   */
  private CompletableFuture<Void> replicated(
      List<Grant> batch, StatefulRedisConnection<String, String> node) {
    if (batch.stream().allMatch(grant -> grant.confirmed.isDone())) {
      return CompletableFuture.completedFuture(null);
    }
    if (batch.stream().anyMatch(grant -> grant.confirmed.isCompletedExceptionally())) {
      // the connection may be another by now, whose WAIT knows nothing of what the first has
      // written
      return CompletableFuture.failedFuture(
          failures.unavailable("lost the connection of a confirmation, or a claim of it", null));
    }
    CommandArgs<String, String> args =
        new CommandArgs<>(StringCodec.UTF8)
            .add(options.waitReplicas())
            .add(options.waitTimeout().toMillis());
    return wire.send(CommandType.WAIT, args, node)
        .thenAccept(
            reply -> {
              long count = reply.get(0) instanceof Long number ? number : 0;
              if (count < options.waitReplicas()) {
                throw tooFew(count);
              }
              batch.forEach(grant -> grant.confirmed.complete(null));
            });
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

  /** Another server is the primary. */
  void switched() {
    wire.switched();
  }

  @Override
  public void close() {
    wire.close();
  }
}
