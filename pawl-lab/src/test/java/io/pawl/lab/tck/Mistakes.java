package io.pawl.lab.tck;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Operation;
import io.pawl.spi.Standing;
import io.pawl.tck.CounterContract;
import io.pawl.tck.LockContract;
import io.pawl.tck.LockStoreContract;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The mistakes of specimens, each in a store, under the contract that has to find it. */
final class Mistakes {

  /** Longer than any case waits. */
  private static final Duration FOR_GOOD = Duration.ofMinutes(5);

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

  /** As {@link None}, under the contract of counters. */
  static class NoneForCounters extends CounterContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenCounters(service);
    }
  }

  /** S1, S2, S16: a lock ends with its release, and with nothing else. */
  static class NoExpiry extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
          return sound.attempt(lasting(claim, FOR_GOOD), bell);
        }
      };
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

  /** S8: whoever comes from the holder's client is the holder. */
  static class OneOwnerPerClient extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
          return sound
              .show(claim.lock())
              .thenCompose(
                  view ->
                      view.stream()
                          .flatMap(it -> it.holders().stream())
                          .filter(it -> it.id().client().equals(claim.id().client()))
                          .findFirst()
                          .map(it -> heldLike(it))
                          .orElseGet(() -> sound.attempt(claim, bell)));
        }

        private CompletionStage<Standing> heldLike(ClaimView holder) {
          return CompletableFuture.completedFuture(
              new Standing.Held(holder.token(), holder.lastToken(), List.of()));
        }
      };
    }
  }

  /** S9: a renewal prolongs whatever hold the lock has. */
  static class RenewsWhoeverHolds extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
          Map<ClaimId, Standing> standings = new HashMap<>();
          for (Claim claim : claims) {
            ClaimId holder =
                sound.show(claim.lock()).toCompletableFuture().join().stream()
                    .flatMap(it -> it.holders().stream())
                    .map(ClaimView::id)
                    .findFirst()
                    .orElse(claim.id());
            standings.put(claim.id(), renewed(claim, holder));
          }
          return CompletableFuture.completedFuture(standings);
        }

        private Standing renewed(Claim claim, ClaimId holder) {
          Claim theirs =
              new Claim(
                  claim.lock(),
                  holder,
                  claim.mode(),
                  claim.lease(),
                  claim.minHold(),
                  claim.queues(),
                  claim.tokens(),
                  claim.tokenFloor(),
                  claim.unsettled(),
                  claim.holder());
          return sound.renew(List.of(theirs)).toCompletableFuture().join().get(holder);
        }
      };
    }
  }

  /** S27: a release that is repeated ends the hold of whoever came next. */
  static class RepeatedRelease extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        private final Set<ClaimId> released = ConcurrentHashMap.newKeySet();

        @Override
        public CompletionStage<Void> withdraw(Claim claim) {
          if (released.add(claim.id())) {
            return sound.withdraw(claim);
          }
          return sound
              .show(claim.lock())
              .thenAccept(
                  view ->
                      view.stream()
                          .flatMap(it -> it.holders().stream())
                          .forEach(it -> sound.evict(claim.lock(), it.token())));
        }
      };
    }
  }

  /** S12: a change is made whatever the value is by then. */
  static class NoFloor extends CounterContract {
    private final MemoryStore service = new MemoryStore();
    private final AtomicInteger ids = new AtomicInteger();

    @Override
    protected LockStore openStore() {
      return new BrokenCounters(service) {
        @Override
        public CompletionStage<CounterAnswer> apply(CounterRequest request) {
          Operation anything = new Operation.SetBounds(-1_000_000, 1_000_000);
          for (String counter : request.operations().keySet()) {
            String id = "no floor " + ids.incrementAndGet();
            sound.apply(CounterRequest.of(counter, id, request.issuedMillis(), anything, true));
          }
          return sound.apply(request);
        }
      };
    }
  }

  /** S12: a change whose reply was lost is made once more. */
  static class ForgetsIds extends CounterContract {
    private final MemoryStore service = new MemoryStore();
    private final AtomicInteger ids = new AtomicInteger();

    @Override
    protected LockStore openStore() {
      return new BrokenCounters(service) {
        @Override
        public CompletionStage<CounterAnswer> apply(CounterRequest request) {
          String another = request.id() + " " + ids.incrementAndGet();
          return sound.apply(
              new CounterRequest(
                  another, request.issuedMillis(), request.operations(), request.recordsRefusal()));
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

  /** Whoever of its client waits behind a reader is served under the reader's hold. */
  static class FollowersOfReaders extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
          return sound.attempt(claim, standing -> bell.ring(followed(claim, standing)));
        }

        private Standing followed(Claim claim, Standing standing) {
          if (!(standing instanceof Standing.Held held) || !claim.mode().equals(Mode.SHARED)) {
            return standing;
          }
          List<ClaimId> behind =
              sound.show(claim.lock()).toCompletableFuture().join().stream()
                  .flatMap(it -> it.waiters().stream())
                  .map(ClaimView::id)
                  .filter(it -> it.client().equals(claim.id().client()))
                  .toList();
          return new Standing.Held(held.token(), held.lastToken(), behind);
        }
      };
    }
  }

  /** Whoever finds ten before it is told to wait, and has no place. */
  static class ShortQueue extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
          boolean isFull =
              sound
                  .show(claim.lock())
                  .toCompletableFuture()
                  .join()
                  .filter(it -> it.waiters().size() >= 10)
                  .isPresent();
          return isFull
              ? CompletableFuture.completedFuture(new Standing.Waiting(Duration.ofMillis(100)))
              : sound.attempt(claim, bell);
        }
      };
    }
  }

  /** Of the claims that were withdrawn before they came, the first ten are remembered. */
  static class ShortMemory extends LockStoreContract {
    private final MemoryStore service = new MemoryStore();
    private final AtomicInteger remembered = new AtomicInteger();

    @Override
    protected LockStore openStore() {
      return new BrokenStore(service) {
        @Override
        public CompletionStage<Void> withdraw(Claim claim) {
          boolean isForgotten = claim.unsettled() && remembered.incrementAndGet() > 10;
          return isForgotten ? CompletableFuture.completedFuture(null) : sound.withdraw(claim);
        }
      };
    }
  }

  /** Times are compared as if they were of another clock, give or take five seconds. */
  static class LenientTimes extends CounterContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenCounters(service) {
        @Override
        public CompletionStage<CounterAnswer> apply(CounterRequest request) {
          return sound.apply(
              new CounterRequest(
                  request.id(),
                  request.issuedMillis() + 5_000,
                  request.operations(),
                  request.recordsRefusal()));
        }
      };
    }
  }

  /** A page begins with the name behind which it should begin. */
  static class PageOnceMore extends CounterContract {
    private final MemoryStore service = new MemoryStore();

    @Override
    protected LockStore openStore() {
      return new BrokenCounters(service) {
        @Override
        public CompletionStage<List<CounterView>> list(String after, int limit) {
          return sound
              .list("", Integer.MAX_VALUE)
              .thenApply(
                  all ->
                      all.stream()
                          .filter(it -> it.name().compareTo(after) >= 0)
                          .limit(limit)
                          .toList());
        }
      };
    }
  }
}
