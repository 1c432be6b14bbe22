package io.pawl.lab.chaos;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Operation;
import io.pawl.spi.Standing;
import io.pawl.spi.Standing.Held;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** A lock service and its client with one old bug, over a store that has none. Thread-safe. */
final class BrokenStore implements LockStore, CounterStore {

  /** The bug, and the promise that it breaks, as a verdict names it. */
  enum Bug {
    NONE(""),
    /** The release of a lease that was lost deletes the lock, whoever has it now. */
    BLIND_DELETE_ON_RELEASE("P1"),
    /** Whoever gives up waiting releases the lock. */
    RELEASE_WITHOUT_OWNER("P1"),
    /** The client counts the lease from the reply, half a lease after the store began to. */
    LEASE_COUNTED_FROM_THE_REPLY("P1"),
    /** The second client's clock is ahead: to it, the first one's leases are over early. */
    CLIENTS_CLOCK("P1"),
    /** The token starts anew once the lock was free. */
    TOKEN_RESET("P2"),
    /** A bell that is lost is never made up for. */
    NO_FALLBACK_AFTER_A_LOST_BELL("P6"),
    /** A renewal that comes after the release takes the lock anew, and goes on. */
    RENEWAL_AFTER_RELEASE("P6"),
    /** A waiter that died keeps its place for ever. */
    NO_DEAD_WAITER_BOUND("P6"),
    /** A change that was not answered is sent again as another one. */
    RETRY_WITHOUT_ID("P7"),
    /** What the gate has sold is sold, though the truth never heard of it. */
    GATE_TAKEN_FOR_TRUTH("P7");

    final String promise;

    Bug(String promise) {
      this.promise = promise;
    }
  }

  private static final int RARELY = 8;

  private final MemoryStore behind = new MemoryStore();
  private final Bug bug;
  private final Map<String, Claim> holders = new ConcurrentHashMap<>();
  private final Map<ClaimId, Long> tokenBases = new ConcurrentHashMap<>();
  private final Map<String, Long> lastTokens = new ConcurrentHashMap<>();
  private final Map<String, Long> bases = new ConcurrentHashMap<>();
  private final Map<ClaimId, Claim> undead = new ConcurrentHashMap<>();
  private final Map<ClaimId, Boolean> granted = new ConcurrentHashMap<>();
  private final Map<ClaimId, Boolean> waiting = new ConcurrentHashMap<>();
  private final AtomicLong events = new AtomicLong();

  BrokenStore(Bug bug) {
    this.bug = bug;
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    keepUndead();
    if (bug == Bug.CLIENTS_CLOCK) {
      Claim holder = holders.get(claim.lock());
      boolean isOthers = holder != null && !holder.id().client().equals(claim.id().client());
      if (isOthers && holder.id().client().compareTo(claim.id().client()) < 0) {
        holders.remove(claim.lock());
        behind.withdraw(holder);
      }
    }
    return behind
        .attempt(shortened(claim), standing -> ring(claim, bell, standing))
        .thenApply(standing -> answered(claim, standing));
  }

  private Claim shortened(Claim claim) {
    return bug != Bug.LEASE_COUNTED_FROM_THE_REPLY
        ? claim
        : new Claim(
            claim.lock(),
            claim.id(),
            claim.mode(),
            claim.lease().dividedBy(2),
            claim.minHold(),
            claim.queues(),
            claim.tokens(),
            claim.tokenFloor(),
            claim.unsettled(),
            claim.holder());
  }

  private void ring(Claim claim, Bell bell, Standing standing) {
    if (bug != Bug.NO_FALLBACK_AFTER_A_LOST_BELL) {
      bell.ring(answered(claim, standing));
    }
  }

  private Standing answered(Claim claim, Standing standing) {
    if (standing instanceof Standing.Waiting) {
      waiting.put(claim.id(), true);
    }
    if (!(standing instanceof Held held)) {
      return standing;
    }
    if (bug == Bug.NO_FALLBACK_AFTER_A_LOST_BELL && waiting.containsKey(claim.id())) {
      return new Standing.Waiting(Duration.ofHours(1));
    }
    holders.put(claim.lock(), claim);
    granted.put(claim.id(), true);
    if (bug == Bug.NO_DEAD_WAITER_BOUND && events.incrementAndGet() == RARELY) {
      revive(claim);
    }
    if (bug != Bug.TOKEN_RESET) {
      return held;
    }
    lastTokens.merge(claim.lock(), held.lastToken(), Math::max);
    long base = tokenBases.computeIfAbsent(claim.id(), id -> bases.getOrDefault(claim.lock(), 0L));
    return new Held(held.token() - base, held.lastToken() - base);
  }

  /** A claim that nobody speaks of any more, and that stays alive all the same. */
  private void revive(Claim like) {
    ClaimId id = new ClaimId("undead", events.incrementAndGet());
    Claim claim =
        new Claim(
            like.lock(),
            id,
            Mode.EXCLUSIVE,
            like.lease(),
            Duration.ZERO,
            true,
            1,
            0,
            false,
            like.holder());
    undead.put(id, claim);
    behind.attempt(claim, standing -> {});
  }

  private void keepUndead() {
    if (!undead.isEmpty()) {
      behind.renew(undead.values());
    }
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    keepUndead();
    Map<ClaimId, Claim> byId = new LinkedHashMap<>();
    claims.forEach(claim -> byId.put(claim.id(), claim));
    return behind
        .renew(claims.stream().map(this::shortened).toList())
        .thenApply(
            standings -> {
              Map<ClaimId, Standing> answers = new LinkedHashMap<>();
              standings.forEach(
                  (id, standing) -> answers.put(id, answered(byId.get(id), standing)));
              return answers;
            });
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    keepUndead();
    Claim holder = holders.get(claim.lock());
    boolean isHolder = holder != null && holder.id().equals(claim.id());
    waiting.remove(claim.id());
    boolean wasGranted = granted.remove(claim.id()) != null;
    CompletionStage<Void> done = behind.withdraw(claim);
    if (isHolder) {
      holders.remove(claim.lock());
      bases.put(claim.lock(), lastTokens.getOrDefault(claim.lock(), 0L));
      if (bug == Bug.RENEWAL_AFTER_RELEASE && events.incrementAndGet() == RARELY) {
        revive(claim);
      }
    } else if (holder != null
        && (bug == Bug.BLIND_DELETE_ON_RELEASE && wasGranted
            || bug == Bug.RELEASE_WITHOUT_OWNER && !wasGranted)) {
      holders.remove(claim.lock());
      behind.withdraw(holder);
    }
    return done;
  }

  @Override
  public CompletionStage<CounterAnswer> apply(CounterRequest request) {
    if (!request.enters()) {
      return behind.apply(request);
    }
    long event = events.incrementAndGet();
    if (bug == Bug.RETRY_WITHOUT_ID) {
      return behind.apply(
          new CounterRequest(
              request.id() + "-" + event, 0, request.operations(), request.recordsRefusal()));
    }
    CompletionStage<CounterAnswer> answer = behind.apply(request);
    if (bug == Bug.GATE_TAKEN_FOR_TRUTH && event % RARELY == 0) {
      TreeMap<String, Operation> back = new TreeMap<>();
      request
          .operations()
          .forEach(
              (counter, operation) -> {
                if (operation instanceof Operation.Add add) {
                  back.put(counter, new Operation.Add(-add.amount()));
                }
              });
      if (!back.isEmpty()) {
        return answer.thenCompose(
            told ->
                behind
                    .apply(new CounterRequest(request.id() + "-back", 0, back, true))
                    .thenApply(nothing -> told));
      }
    }
    return answer;
  }

  @Override
  public CompletionStage<Optional<CounterView>> read(String counter) {
    return behind.read(counter);
  }

  @Override
  public CompletionStage<List<LedgerEntry>> history(String counter, int limit) {
    return behind.history(counter, limit);
  }

  @Override
  public CompletionStage<List<CounterView>> list(String after, int limit) {
    return behind.list(after, limit);
  }

  @Override
  public CompletionStage<Long> prune(String counter, Instant before) {
    return behind.prune(counter, before);
  }

  @Override
  public String describe() {
    return "broken: " + bug;
  }

  @Override
  public void close() {
    behind.close();
  }
}
