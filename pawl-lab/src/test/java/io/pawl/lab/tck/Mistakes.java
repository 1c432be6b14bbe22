package io.pawl.lab.tck;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import io.pawl.tck.LockContract;
import io.pawl.tck.LockStoreContract;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The mistakes of specimens, each in a store, under the contract that has to find it. */
final class Mistakes {

  private Mistakes() {}

  private static Claim lasting(Claim claim, Duration lease) {
    return new Claim(
        claim.lock(),
        claim.id(),
        claim.mode(),
        lease,
        claim.minHold(),
        claim.queues(),
        claim.tokens(),
        claim.tokenFloor(),
        claim.unsettled(),
        claim.holder());
  }

  /** Makes none: the cases that find the others' mistakes pass. */
  static class None extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service);
    }
  }

  /** As {@link None}, under the contract of users. */
  static class NoneForUsers extends LockContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service);
    }
  }

  /** S5: a release ends the hold of whoever has the lock now. */
  static class BlindDelete extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Void> withdraw(Claim claim) {
          return sound
              .withdraw(claim)
              .thenCompose(done -> sound.show(claim.lock()))
              .thenAccept(
                  view ->
                      view.ifPresent(
                          it ->
                              it.holders().stream()
                                  .map(ClaimView::token)
                                  .forEach(token -> sound.evict(claim.lock(), token))));
        }
      };
    }
  }

  /** S4: each client decides by its own clock, and the second client's is ahead. */
  static class ClientClock extends LockStoreContract {
    private static final long AHEAD_NANOS = Duration.ofHours(1).toNanos();

    private final ThreadLocal<Long> ahead = ThreadLocal.withInitial(() -> 0L);
    private final MemoryStore service = new MemoryStore(() -> System.nanoTime() + ahead.get());
    private final AtomicInteger clients = new AtomicInteger();

    @Override
    protected LockStore openStore() {
      long mine = clients.getAndIncrement() * AHEAD_NANOS;
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
          ahead.set(mine);
          try {
            return sound.attempt(claim, bell);
          } finally {
            ahead.remove();
          }
        }
      };
    }
  }

  /** The lease is counted from the reply: the store's ends before the client's. */
  static class EndsBeforeTheClientThinks extends LockContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
          return sound.attempt(lasting(claim, claim.lease().dividedBy(2)), bell);
        }
      };
    }
  }

  /** The tokens of each grant begin at 1. */
  static class TokenReset extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
          return sound
              .attempt(claim, bell)
              .thenApply(
                  it ->
                      it instanceof Standing.Held held
                          ? new Standing.Held(
                              1, 1 + held.lastToken() - held.token(), held.followers())
                          : it);
        }
      };
    }
  }

  /** A renewal revives what was given back. */
  static class RenewalAfterRelease extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
          Map<ClaimId, Standing> standings = new HashMap<>();
          for (Claim claim : claims) {
            standings.put(
                claim.id(), sound.attempt(claim, held -> {}).toCompletableFuture().join());
          }
          return CompletableFuture.completedFuture(standings);
        }
      };
    }
  }

  /** Only a bell tells a waiter of its grant, and bells get lost. */
  static class NothingButTheBell extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();
    private final Set<ClaimId> waited = ConcurrentHashMap.newKeySet();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
          return sound.attempt(claim, bell).thenApply(it -> remembered(claim.id(), it));
        }

        @Override
        public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
          return sound
              .renew(claims)
              .thenApply(
                  answers -> {
                    Map<ClaimId, Standing> told = new HashMap<>();
                    answers.forEach((id, standing) -> told.put(id, remembered(id, standing)));
                    return told;
                  });
        }

        private Standing remembered(ClaimId id, Standing standing) {
          if (standing instanceof Standing.Waiting) {
            waited.add(id);
          }
          return waited.contains(id) && standing instanceof Standing.Held
              ? new Standing.Waiting(Duration.ofSeconds(1))
              : standing;
        }
      };
    }
  }

  /** S23: whoever stands in line stands there for good, dead or alive. */
  static class DeadWaiters extends LockStoreContract {
    private static final Duration FOR_GOOD = Duration.ofMinutes(5);

    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
          return sound.attempt(forGood(claim), bell);
        }

        /** The holder's lease stays what it was. */
        private Claim forGood(Claim claim) {
          boolean isFree =
              sound
                  .show(claim.lock())
                  .toCompletableFuture()
                  .join()
                  .filter(it -> !it.holders().isEmpty())
                  .isEmpty();
          return isFree ? claim : lasting(claim, FOR_GOOD);
        }
      };
    }
  }
}
