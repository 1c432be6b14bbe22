package io.pawl.tck.rig;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** One client at the seam: a store object and the claims made through it. Answers are awaited. */
public final class SeamClient {

  static final Holder NOBODY = new Holder("host", 1, "thread", "", "");

  private final LockStore store;
  private final String id =
      "tck-" + Long.toString(ThreadLocalRandom.current().nextLong(Long.MAX_VALUE), 36);
  private final AtomicLong numbers = new AtomicLong();

  public SeamClient(LockStore store) {
    this.store = store;
  }

  /** Remembers how often it was rung, and with what. */
  public static final class RecordingBell implements Bell {
    private final List<Standing> rings = new CopyOnWriteArrayList<>();

    @Override
    public void ring(Standing standing) {
      rings.add(standing);
    }

    public List<Standing> rings() {
      return rings;
    }

    public boolean hasRungHeld() {
      return rings.stream().anyMatch(Standing.Held.class::isInstance);
    }
  }

  /** A held claim. */
  public record Hold(Claim claim, Standing.Held tokens) {}

  /** A claim in the making: exclusive, queueing, one token, a long lease. */
  public final class Ask {
    private final String lock;
    private Mode mode = Mode.EXCLUSIVE;
    private Duration lease = Bench.LONG_LEASE;
    private Duration minHold = Duration.ZERO;
    private boolean queues = true;
    private int tokens = 1;
    private long floor;
    private Holder holder = NOBODY;

    private Ask(String lock) {
      this.lock = lock;
    }

    public Ask mode(Mode wanted) {
      mode = wanted;
      return this;
    }

    public Ask lease(Duration length) {
      lease = length;
      return this;
    }

    public Ask minHold(Duration shortest) {
      minHold = shortest;
      return this;
    }

    public Ask withoutQueueing() {
      queues = false;
      return this;
    }

    public Ask tokens(int wanted) {
      tokens = wanted;
      return this;
    }

    public Ask above(long tokenFloor) {
      floor = tokenFloor;
      return this;
    }

    public Ask holder(Holder who) {
      holder = who;
      return this;
    }

    public Claim claim() {
      ClaimId next = new ClaimId(id, numbers.getAndIncrement());
      return new Claim(lock, next, mode, lease, minHold, queues, tokens, floor, false, holder);
    }

    /** Attempts it, and it must be granted at once. */
    public Hold take() {
      Claim claim = claim();
      return new Hold(claim, held(attempt(claim)));
    }

    /** Attempts it, and it must be told to wait. */
    public Claim stand() {
      Claim claim = claim();
      assertThat(attempt(claim)).isInstanceOf(Standing.Waiting.class);
      return claim;
    }
  }

  public LockStore store() {
    return store;
  }

  public Ask ask(String lock) {
    return new Ask(lock);
  }

  public Hold take(String lock) {
    return ask(lock).take();
  }

  /** Whether the lock could be had now; it is given back. */
  public boolean findsFree(String lock) {
    Claim probe = ask(lock).withoutQueueing().claim();
    boolean free = attempt(probe) instanceof Standing.Held;
    withdraw(probe);
    return free;
  }

  public Standing attempt(Claim claim) {
    return attempt(claim, standing -> {});
  }

  public Standing attempt(Claim claim, Bell bell) {
    return answer(() -> store.attempt(claim, bell));
  }

  public Map<ClaimId, Standing> renew(List<Claim> claims) {
    return answer(() -> store.renew(claims));
  }

  /** Renews one claim; the store must say how it stands. */
  public Standing renew(Claim claim) {
    Map<ClaimId, Standing> standings = renew(List.of(claim));
    assertThat(standings).containsOnlyKeys(claim.id());
    return standings.getOrDefault(claim.id(), Standing.GONE);
  }

  public void withdraw(Claim claim) {
    answer(() -> store.withdraw(claim));
  }

  public void withdraw(Hold hold) {
    withdraw(hold.claim());
  }

  public static Standing.Held held(Standing standing) {
    assertThat(standing).isInstanceOf(Standing.Held.class);
    return (Standing.Held) standing;
  }

  public static <T> T answer(Supplier<CompletionStage<T>> verb) {
    try {
      long patience = Bench.PATIENCE.toMillis();
      return verb.get().toCompletableFuture().get(patience, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new AssertionError("a stage failed with what is no StoreException", e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("no answer within " + Bench.PATIENCE, e);
    } catch (InterruptedException e) {
      throw new AssertionError("the case was interrupted", e);
    }
  }
}
