package io.pawl.tck;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Candidacy;
import io.pawl.Election;
import io.pawl.Election.Candidate;
import io.pawl.Lease;
import io.pawl.LockSnapshot;
import io.pawl.LockSnapshot.Claimant;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Verb;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.rig.SeamClient.Hold;
import io.pawl.tck.rig.SeamClient.RecordingBell;
import io.pawl.tck.seam.NameCases;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The obligations of an {@link Inspectable} store: what it shows to people, and eviction. */
public abstract class InspectableContract extends StoreContract {

  private SeamClient here;
  private SeamClient there;
  private Inspectable inspector;

  /** For subclasses. */
  @SuppressWarnings("NullAway.Init") // the clients are opened when the subclass is ready for them
  protected InspectableContract() {}

  @BeforeEach
  final void openClients() {
    here = bench.client();
    there = bench.client();
    LockStore store = bench.store();
    assertThat(store).isInstanceOf(Inspectable.class);
    inspector = (Inspectable) store;
  }

  private LockView show(String lock) {
    return SeamClient.answer(() -> inspector.show(lock)).orElseThrow();
  }

  private boolean evict(String lock, long token) {
    return SeamClient.answer(() -> inspector.evict(lock, token));
  }

  /** Of this case's locks; the service may have others. */
  private List<LockView> list() {
    return SeamClient.answer(() -> inspector.list(1_000_000)).stream()
        .filter(view -> view.name().startsWith(bench.namespace()))
        .toList();
  }

  @Test
  void holdersAndWaitersAreShownInOrder() {
    String lock = bench.lock("shown");
    Hold first = here.ask(lock).mode(Mode.SHARED).tokens(3).take();
    Hold second = there.ask(lock).mode(Mode.SHARED).take();
    Claim writer = there.ask(lock).stand();
    Claim reader = here.ask(lock).mode(Mode.SHARED).stand();

    LockView view = show(lock);

    assertThat(view.name()).isEqualTo(lock);
    assertThat(view.lastToken()).isEqualTo(second.tokens().lastToken());
    assertThat(view.holders())
        .extracting(ClaimView::id)
        .containsExactly(first.claim().id(), second.claim().id());
    assertThat(view.holders().get(0).token()).isEqualTo(first.tokens().token());
    assertThat(view.holders().get(0).lastToken()).isEqualTo(first.tokens().lastToken());
    assertThat(view.holders().get(0).mode()).isEqualTo(Mode.SHARED);
    assertThat(view.waiters()).extracting(ClaimView::id).containsExactly(writer.id(), reader.id());
    assertThat(view.waiters()).extracting(ClaimView::token).containsOnly(0L);
    assertThat(view.waiters()).extracting(ClaimView::lastToken).containsOnly(0L);
    assertThat(view.waiters().get(0).mode()).isEqualTo(Mode.EXCLUSIVE);
    for (ClaimView claim : view.holders()) {
      assertThat(claim.until()).isAfter(claim.since());
    }
  }

  @Test
  void everyModeIsShownAsItWasAsked() {
    for (Mode mode : List.of(Mode.EXCLUSIVE, Mode.SHARED)) {
      String lock = bench.lock(mode.toString());
      here.ask(lock).mode(mode).take();
      assertThat(show(lock).kind()).isEqualTo(new Kind(mode.capacity()));
      assertThat(show(lock).holders()).extracting(ClaimView::mode).containsExactly(mode);
    }
  }

  @Test
  void theTextOfAHolderComesBackAsItWas() {
    List<Holder> holders =
        List.of(
            new Holder("host-1.example", 4_000_000_000L, "main", "billing", "nightly run"),
            new Holder("", 0, "", "", ""),
            new Holder(
                "h\"o'st", 7, "{\"a\":[1,2]}", "'; DROP TABLE x; --", "\\n \\u0041 \u6F22\u5B57"),
            new Holder("\uD83D\uDD12", 1, "tab\tand\nline", "<b>&amp;</b>", "%s ${x} | ; , = :"),
            new Holder("x".repeat(256), 1, "\u00E9".repeat(256), "e\u0301", " \u00A0\uFFFF "));
    for (int i = 0; i < holders.size(); i++) {
      String lock = bench.lock("holder" + i);
      here.ask(lock).holder(holders.get(i)).take();
      there.ask(lock).holder(holders.get(i)).stand();

      assertThat(show(lock).holders()).extracting(ClaimView::holder).containsOnly(holders.get(i));
      assertThat(show(lock).waiters()).extracting(ClaimView::holder).containsOnly(holders.get(i));
    }
  }

  @Test
  void anInterruptedThreadIsShownALockAndStaysInterrupted() throws Exception {
    String lock = bench.lock("interrupted");
    Hold hold = here.take(lock);
    Pawl client = bench.pawl();
    Running<LockSnapshot> looking =
        bench.start(
            () -> {
              Thread.currentThread().interrupt();
              LockSnapshot shown = client.inspect(lock);
              assertThat(Thread.interrupted()).isTrue();
              return shown;
            });

    assertThat(looking.result().holders())
        .extracting(Claimant::token)
        .containsExactly(hold.tokens().token());
  }

  @Test
  void locksHeldOrWaitedForAreListedByName() {
    Hold released = here.take(bench.lock("d"));
    here.take(bench.lock("c"));
    here.take(bench.lock("a"));
    there.take(bench.lock("b"));
    Claim waiter = there.ask(bench.lock("a")).stand();
    here.withdraw(released);

    assertThat(list())
        .extracting(LockView::name)
        .containsExactly(bench.lock("a"), bench.lock("b"), bench.lock("c"));
    assertThat(list().get(0).waiters()).extracting(ClaimView::id).containsExactly(waiter.id());
    assertThat(SeamClient.answer(() -> inspector.list(2))).hasSize(2);
    assertThat(SeamClient.answer(() -> inspector.list(1))).hasSize(1);
  }

  @Test
  void hostileNamesAreListedAndShown() {
    List<String> names = new ArrayList<>();
    for (String text : NameCases.HOSTILE) {
      names.add(bench.lock(text));
    }
    for (String text : NameCases.ALIKE) {
      names.add(bench.lock(text));
    }
    names.forEach(here::take);

    assertThat(list()).extracting(LockView::name).containsExactlyInAnyOrderElementsOf(names);
    for (String name : names) {
      assertThat(show(name).name()).isEqualTo(name);
      assertThat(evict(name, show(name).lastToken())).as(name).isTrue();
    }
    assertThat(list()).isEmpty();
  }

  @Test
  void aLockNeverHeardOfIsShownAsNone() {
    assertThat(SeamClient.answer(() -> inspector.show(bench.lock("never")))).isEmpty();
    assertThat(evict(bench.lock("never"), 1)).isFalse();
  }

  @Test
  void aLockGivenBackIsShownWithNobodyInIt() {
    String lock = bench.lock("idle");
    Hold hold = here.take(lock);
    here.withdraw(hold);

    SeamClient.answer(() -> inspector.show(lock))
        .ifPresent(
            view -> {
              assertThat(view.holders()).isEmpty();
              assertThat(view.waiters()).isEmpty();
              assertThat(view.lastToken()).isGreaterThanOrEqualTo(hold.tokens().lastToken());
            });
  }

  @Test
  void aClaimThatRanOutIsNotShown() {
    String lock = bench.lock("ranOut");
    here.ask(lock).lease(bench.shortLease()).take();

    eventually(
        () ->
            SeamClient.answer(() -> inspector.show(lock))
                .map(view -> view.holders().isEmpty())
                .orElse(true));

    eventually(() -> list().isEmpty());
  }

  @Test
  void aLockThatOnlyRemembersAWithdrawalIsNotListed() {
    String lock = bench.lock("withdrawn");
    here.withdraw(here.ask(lock).claim().asUnsettled());

    assertThat(list()).isEmpty();
  }

  @Test
  void evictEndsTheHoldAndServesTheNext() {
    String lock = bench.lock("evict");
    Hold hold = here.take(lock);
    RecordingBell bell = new RecordingBell();
    Claim next = there.ask(lock).claim();
    there.attempt(next, bell);

    assertThat(evict(lock, hold.tokens().token())).isTrue();

    eventually(bell::hasRungHeld);
    assertThat(here.renew(hold.claim())).isEqualTo(Standing.GONE);
    Standing.Held granted = SeamClient.held(there.renew(next));
    assertThat(granted.token()).isGreaterThan(hold.tokens().lastToken());
    here.withdraw(hold);
    assertThat(there.renew(next)).isEqualTo(granted);
  }

  @Test
  void evictEndsAShortestHoldWhetherItsOwnerIsThereOrNot() {
    String lock = bench.lock("evictLasting");
    Hold hold = here.ask(lock).minHold(Bench.LONG_LEASE).take();
    assertThat(evict(lock, hold.tokens().token())).isTrue();
    assertThat(there.findsFree(lock)).isTrue();
    Hold ended = here.ask(lock).minHold(Bench.LONG_LEASE).take();
    here.withdraw(ended);
    assertThat(show(lock).holders()).extracting(ClaimView::id).containsExactly(ended.claim().id());
    assertThat(evict(lock, ended.tokens().token())).isTrue();
    assertThat(there.findsFree(lock)).isTrue();
  }

  @Test
  void evictTakesAnyTokenOfTheHoldAndNoOther() {
    String lock = bench.lock("evictToken");
    Hold before = here.take(lock);
    here.withdraw(before);
    Hold hold = here.ask(lock).tokens(10).take();
    long middle = (hold.tokens().token() + hold.tokens().lastToken()) / 2;

    assertThat(evict(lock, before.tokens().token())).isFalse();
    assertThat(evict(lock, hold.tokens().lastToken() + 1)).isFalse();
    assertThat(here.renew(hold.claim())).isEqualTo(hold.tokens());
    assertThat(evict(lock, middle)).isTrue();
    assertThat(evict(lock, middle)).isFalse();
    assertThat(there.findsFree(lock)).isTrue();
  }

  @Test
  void evictLeavesTheOtherHoldersAlone() {
    String lock = bench.lock("evictOne");
    Hold evicted = here.ask(lock).mode(Mode.SHARED).take();
    Hold staying = there.ask(lock).mode(Mode.SHARED).take();

    assertThat(evict(lock, evicted.tokens().token())).isTrue();

    assertThat(there.renew(staying.claim())).isEqualTo(staying.tokens());
    assertThat(here.renew(evicted.claim())).isEqualTo(Standing.GONE);
  }

  @Test
  void aClientLooksAtALock() throws Exception {
    String lock = bench.lock("looked");
    LockOptions how = Bench.LONG.note("a note");
    Pawl holding = bench.pawl(PawlOptions.defaults().application("holding"));
    Pawl waiting = bench.pawl(PawlOptions.defaults().application("waiting"));
    LockSnapshot before = waiting.inspect(lock);
    assertThat(before.name()).isEqualTo(lock);
    assertThat(before.isHeld()).isFalse();
    assertThat(before.waiters()).isEmpty();

    Lease lease = holding.lock(lock, how).acquire();
    Running<Lease> next = bench.start(() -> waiting.readWriteLock(lock, how).readLock().acquire());
    eventually(() -> !holding.inspect(lock).waiters().isEmpty());
    LockSnapshot held = waiting.inspect(lock);

    assertThat(held.isHeld()).isTrue();
    assertThat(held.capacity()).isZero();
    assertThat(held.lastToken()).isGreaterThanOrEqualTo(lease.token());
    Claimant holder = held.holders().get(0);
    assertThat(lease.token()).isBetween(holder.token(), holder.lastToken());
    assertThat(holder.isShared()).isFalse();
    assertThat(holder.permits()).isZero();
    assertThat(holder.application()).isEqualTo("holding");
    assertThat(holder.note()).isEqualTo("a note");
    assertThat(holder.pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(holder.until()).isAfter(holder.since());
    assertThat(held.waiters()).extracting(Claimant::application).containsExactly("waiting");
    assertThat(held.waiters()).extracting(Claimant::isShared).containsExactly(true);
    assertThat(held.waiters()).extracting(Claimant::token).containsExactly(0L);
    lease.close();
    next.result().close();
    assertThat(waiting.inspect(lock).isHeld()).isFalse();
  }

  @Test
  void aClientTakesALockAwayByItsToken() throws Exception {
    String lock = bench.lock("taken");
    LockOptions how = LockOptions.defaults().lease(bench.shortLease());
    Pawl holding = bench.pawl();
    Pawl other = bench.pawl();
    Lease lease = holding.lock(lock, how).acquire();
    assertThat(other.evict(lock, lease.token() + 1_000_000)).isFalse();

    assertThat(other.evict(lock, lease.token())).isTrue();

    assertThat(other.evict(lock, lease.token())).isFalse();
    try (Lease next = other.lock(lock, Bench.LONG).tryAcquire(Bench.PATIENCE).orElseThrow()) {
      assertThat(next.token()).isGreaterThan(lease.token());
    }
    eventually(() -> !lease.isValid());
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
  }

  @Test
  void p5_lossIsTold_onceAfterAnEviction() throws Exception {
    Pawl client = bench.pawl(PawlOptions.defaults().application("evicted"));
    String lock = bench.lock("evictLease");
    Lease lease = client.lock(lock, bench.shortLived()).acquire();
    AtomicInteger lost = new AtomicInteger();
    lease.onLost(lost::incrementAndGet);
    assertThat(show(lock).holders().get(0).holder().application()).isEqualTo("evicted");

    assertThat(evict(lock, lease.token())).isTrue();

    eventually(() -> lost.get() == 1);
    assertThat(lease.isValid()).isFalse();
    try (Lease next = client.lock(lock).acquire()) {
      assertThat(next.token()).isGreaterThan(lease.token());
    }
    assertThat(lost).hasValue(1);
  }

  @Test
  void p5_lossIsTold_ofAnEvictedLeaseThatIsNotRenewedAtItsEnd() throws Exception {
    Duration length = bench.shortLease();
    LockOptions once = LockOptions.defaults().lease(length).renewal(false);
    FaultyStore network = bench.faulty();
    Pawl client = bench.over(network);
    String lock = bench.lock("evictOnce");
    CompletableFuture<Long> lostAt = new CompletableFuture<>();
    AtomicInteger lost = new AtomicInteger();
    long askedAt;
    Lease lease;
    int tries = 0;
    do { // a starved machine may be too late to evict it
      assertThat(tries++).isLessThan(50);
      askedAt = System.nanoTime();
      lease = client.lock(lock, once).acquire();
    } while (!evict(lock, lease.token()));
    lease.onLost(
        () -> {
          lost.incrementAndGet();
          lostAt.complete(System.nanoTime());
        });
    assertThat(there.findsFree(lock)).as("others need not wait for its end").isTrue();

    long untilLoss = lostAt.get(Bench.PATIENCE.toMillis(), TimeUnit.MILLISECONDS) - askedAt;

    assertThat(untilLoss).isGreaterThanOrEqualTo(length.toNanos() / 100 * 97 - 2_000_000);
    assertThat(network.calls(Verb.RENEW)).as("its holder asks nobody").isZero();
    assertThat(lease.isValid()).isFalse();
    assertThatThrownBy(lease::close).isInstanceOf(LeaseLostException.class);
    assertThat(lost).hasValue(1);
  }

  @Test
  void p8_nothingLeftBehind_noTraceOfAClientThatClosed() throws Exception {
    String busy = bench.lock("busy");
    Hold hold = here.take(busy);
    Pawl client = bench.pawl();
    Lease held = client.lock(bench.lock("held"), Bench.LONG).acquire();
    held.onClosing(held::closeAsync);
    var waiting = client.lock(busy, Bench.LONG).tryAcquireAsync(Bench.LONG_LEASE);
    eventually(() -> show(busy).waiters().size() == 1);
    assertThat(waiting).isNotDone();

    client.close();

    assertThat(list()).extracting(LockView::name).containsExactly(busy);
    assertThat(show(busy).waiters()).isEmpty();
    here.withdraw(hold);
    assertThat(list()).isEmpty();
  }

  @Test
  void theLeaderOfAnElectionIsSeenByThoseWhoDoNotStand() {
    Pawl candidate = bench.pawl(PawlOptions.defaults().application("app"));
    Election election = bench.pawl().election(bench.lock("election"), Bench.LONG);
    List<Optional<Candidate>> told = new CopyOnWriteArrayList<>();
    bench.keep(election.watch(Duration.ofMillis(100), told::add));
    eventually(() -> told.size() == 1);
    assertThat(election.leader()).isEmpty();

    Candidacy candidacy =
        candidate
            .election(bench.lock("election"), Bench.LONG)
            .stand("node 7", lease -> new CountDownLatch(1).await());

    eventually(() -> election.leader().isPresent());
    Candidate leader = election.leader().orElseThrow();
    assertThat(leader.description()).isEqualTo("node 7");
    assertThat(leader.application()).isEqualTo("app");
    assertThat(leader.pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(leader.token()).isPositive();
    eventually(() -> told.size() == 2);
    candidacy.close();
    eventually(() -> told.size() == 3);
    assertThat(told)
        .extracting(seen -> seen.map(Candidate::token).orElse(0L))
        .containsExactly(0L, leader.token(), 0L);
  }
}
