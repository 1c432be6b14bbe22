package io.pawl.tck.lock;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.GroupLease;
import io.pawl.Lease;
import io.pawl.LockGroup;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.Bench.Running;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Several locks at once: all or nothing, in any order of names, for ever no circle. */
public abstract class GroupCases extends LockCases {

  private static final int ROUNDS = 12;

  protected GroupCases(Bench bench) {
    super(bench);
  }

  private List<String> names(String... texts) {
    return List.of(texts).stream().map(bench::lock).toList();
  }

  private LockGroup group(Pawl client, String... texts) {
    return client.lockAll(names(texts), Bench.LONG);
  }

  private boolean isFree(String text) {
    var lease = lockThere(bench.lock(text)).tryAcquire();
    lease.ifPresent(Lease::close);
    return lease.isPresent();
  }

  @Test
  void p1_oneHolder_aGroupHoldsAllItsLocksUntilItCloses() throws Exception {
    GroupLease group = group(here, "c", "a", "b").acquire();

    assertThat(group.isValid()).isTrue();
    assertThat(group.tokens()).containsOnlyKeys(names("a", "b", "c"));
    assertThat(group.remaining()).isBetween(Duration.ofNanos(1), Bench.LONG_LEASE);
    for (String name : names("a", "b", "c")) {
      assertThat(lockThere(name).tryAcquire()).isEmpty();
    }
    assertThatThrownBy(() -> group.token("other")).isInstanceOf(IllegalArgumentException.class);

    group.close();
    group.close();

    assertThat(group.isValid()).isFalse();
    assertThatThrownBy(group::ensureValid).isInstanceOf(IllegalStateException.class);
    for (String name : names("a", "b", "c")) {
      try (Lease next = lockThere(name).tryAcquire().orElseThrow()) {
        assertThat(next.token()).isGreaterThan(group.token(name));
      }
    }
  }

  @Test
  void allOrNothing_whatIsGivenBackForABusyLockOwesNoShortestHold() throws Exception {
    Lease busy = lockThere(bench.lock("b")).acquire();
    LockOptions lasting = Bench.LONG.minHold(Bench.LONG_LEASE);
    assertThat(here.lockAll(names("a", "b", "c"), lasting).tryAcquire()).isEmpty();
    Bench.eventually(() -> isFree("a") && isFree("c"));
    busy.close();
  }

  @Test
  void allOrNothing_aBusyLockLeavesTheOthersFree() throws Exception {
    try (Lease busy = lockThere(bench.lock("b")).acquire()) {
      assertThat(group(here, "a", "b", "c").tryAcquire()).isEmpty();
      assertThat(group(here, "c", "b").tryAcquire(Duration.ofMillis(50))).isEmpty();
      assertThat(group(here, "b", "a").tryAcquireAsync(Duration.ZERO).get(20, TimeUnit.SECONDS))
          .isEmpty();
      eventually(() -> isFree("a") && isFree("c"));
      assertThat(busy.isValid()).isTrue();
    }
    assertThat(group(here, "a", "b", "c").tryAcquire()).isPresent();
  }

  @Test
  void allOrNothing_aRefusedGroupHasGivenBackWhatItTookWhenItAnswers() throws Exception {
    List<String> ends = names("a", "c");
    Lease busy = lockThere(bench.lock("b")).acquire();
    for (int i = 0; i < ROUNDS; i++) {
      Duration wait = Duration.ofMillis(5L * (i % 3));
      Pawl next = i % 2 == 0 ? here : there;
      assertThat(group(here, "a", "b", "c").tryAcquire(wait)).isEmpty();
      for (String name : ends) {
        assertThat(next.lock(name, Bench.LONG).tryAcquire())
            .as("%s after a wait of %s", name, wait)
            .hasValueSatisfying(Lease::close);
      }
      assertThat(group(here, "a", "b", "c").tryAcquireAsync(wait).get(20, TimeUnit.SECONDS))
          .isEmpty();
      assertThat(next.lockAll(ends, Bench.LONG).tryAcquire()).hasValueSatisfying(GroupLease::close);
    }
    busy.close();
  }

  @Test
  void allOrNothing_anInterruptedGroupHasGivenBackWhatItTookWhenItThrows() throws Exception {
    Lease busy = lockThere(bench.lock("b")).acquire();
    for (int i = 0; i < ROUNDS; i++) {
      Running<Boolean> refused =
          bench.start(
              () -> {
                assertThatThrownBy(() -> group(here, "a", "b").acquire())
                    .isInstanceOf(InterruptedException.class);
                Optional<Lease> free = there.lock(bench.lock("a"), Bench.LONG).tryAcquire();
                free.ifPresent(Lease::close);
                return free.isEmpty();
              });
      eventually(() -> refused.thread().getState() == Thread.State.WAITING);
      refused.thread().interrupt();
      assertThat(refused.result()).isFalse();
    }
    busy.close();
  }

  @Test
  void p6_someoneGetsIn_ofThoseWhoTryAFreeGroupAtOnceOneGetsIt() throws Exception {
    LockOptions alone = Bench.LONG.renewal(false);
    for (LockOptions options : List.of(Bench.LONG, alone)) {
      oneOfTenGetsIn(options, List.of(here));
      List<Pawl> ten = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        ten.add(i == 0 ? here : i == 1 ? there : bench.pawl());
      }
      oneOfTenGetsIn(options, ten);
    }
  }

  /** A store that is silent for too long answers nobody: such a round does not count. */
  private void oneOfTenGetsIn(LockOptions options, List<Pawl> clients) throws Exception {
    List<String> names = names("a", "b", "c");
    int silent = 0;
    for (int round = 0; round < ROUNDS; ) {
      CyclicBarrier start = new CyclicBarrier(10);
      CountDownLatch tried = new CountDownLatch(10);
      AtomicInteger winners = new AtomicInteger();
      AtomicInteger unanswered = new AtomicInteger();
      List<Running<Boolean>> all = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        LockGroup group = clients.get(i % clients.size()).lockAll(names, options);
        all.add(
            bench.start(
                () -> {
                  start.await();
                  Optional<GroupLease> lease = tried(group, tried, unanswered);
                  winners.addAndGet(lease.isPresent() ? 1 : 0);
                  tried.await();
                  lease.ifPresent(GroupLease::close);
                  return true;
                }));
      }
      for (Running<Boolean> one : all) {
        one.result();
      }
      assertThat(winners).as("of ten, of %s clients", clients.size()).hasValueLessThan(2);
      if (unanswered.get() == 0) {
        assertThat(winners).as("of ten, of %s clients", clients.size()).hasValue(1);
        round++;
      } else { // what such a request took is given back later
        assertThat(silent++).as("rounds without an answer").isLessThan(ROUNDS);
        clients.get(0).lockAll(names, options).acquire().close();
      }
    }
  }

  private static Optional<GroupLease> tried(
      LockGroup group, CountDownLatch tried, AtomicInteger unanswered) {
    try {
      return group.tryAcquire();
    } catch (StoreUnavailableException e) {
      unanswered.incrementAndGet();
      return Optional.empty();
    } finally {
      tried.countDown();
    }
  }

  @Test
  void aGroupThatWaitsHoldsOnlySmallerNamesAndGetsAll() throws Exception {
    Lease busy = lockThere(bench.lock("b")).acquire();
    Running<GroupLease> waiting = bench.start(() -> group(here, "c", "b", "a").acquire());
    eventually(() -> !isFree("a") && isFree("c"));
    assertThat(waiting.task().isDone()).isFalse();

    busy.close();

    try (GroupLease group = waiting.result()) {
      assertThat(group.isValid()).isTrue();
      assertThat(isFree("a") || isFree("b") || isFree("c")).isFalse();
    }
  }

  @Test
  void interruptAndCancelLeaveNothingHeldAndNothingInLine() throws Exception {
    Lease busy = lockThere(bench.lock("b")).acquire();
    Running<GroupLease> waiting = bench.start(() -> group(here, "a", "b", "c").acquire());
    eventually(() -> !isFree("a"));
    waiting.thread().interrupt();
    assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
    eventually(() -> isFree("a"));

    var future = group(here, "a", "b", "c").tryAcquireAsync(Bench.LONG_LEASE);
    eventually(() -> !isFree("a"));
    assertThat(future.cancel(false)).isTrue();
    eventually(() -> isFree("a"));

    busy.close();
    eventually(() -> isFree("b") && isFree("c"));
  }

  @Test
  void aCancellationThatRacesAGrantGivesAllBack() throws Exception {
    for (int i = 0; i < ROUNDS; i++) {
      var future = group(here, "a", "b").tryAcquireAsync(Bench.LONG_LEASE);
      if (i % 2 == 0) {
        int answers = network.answers(Verb.ATTEMPT);
        eventually(() -> future.isDone() || network.answers(Verb.ATTEMPT) > answers);
      }
      if (!future.cancel(false)) {
        future.get().ifPresent(GroupLease::close);
      }
      eventually(() -> isFree("a") && isFree("b"));
    }
  }

  @Test
  void aFailureOfOneGivesTheOthersBack() {
    network.next(Verb.ATTEMPT, Fault.NONE, Fault.DENY);
    assertThatThrownBy(() -> group(here, "a", "b", "c").tryAcquire(Bench.LONG_LEASE))
        .isInstanceOf(StoreDeniedException.class);
    eventually(() -> isFree("a") && isFree("b") && isFree("c"));
  }

  @Test
  void p5_lossIsTold_onceWhenTheFirstOfTheGroupIsLost() throws Exception {
    GroupLease group = here.lockAll(names("a", "b"), bench.shortLived()).acquire();
    AtomicInteger losses = new AtomicInteger();
    group.onLost(losses::incrementAndGet);
    network.on(Verb.RENEW, Fault.LOSE_REQUEST);

    eventually(() -> losses.get() > 0);
    assertThat(group.isValid()).isFalse();
    assertThat(group.remaining()).isZero();
    assertThatThrownBy(group::ensureValid).isInstanceOf(LeaseLostException.class);
    assertThatThrownBy(group::close).isInstanceOf(LeaseLostException.class);
    group.close();
    group.onLost(losses::incrementAndGet);
    eventually(() -> losses.get() == 2);
    eventually(() -> isFree("a") && isFree("b"));
  }

  @Test
  void theOtherLocksOfAGroupThatLostOneStayHeldUntilItsClose() throws Exception {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(6));
    GroupLease group = here.lockAll(names("a", "b", "c"), options).acquire();
    CountDownLatch lost = new CountDownLatch(1);
    group.onLost(lost::countDown);
    String evicted = bench.lock("b");
    assertThat(there.evict(evicted, group.token(evicted))).isTrue();

    assertThat(lost.await(Bench.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

    assertThat(group.isValid()).isFalse();
    assertThat(isFree("a")).isFalse();
    assertThat(isFree("c")).isFalse();
    assertThatThrownBy(group::close).isInstanceOf(LeaseLostException.class);
    eventually(() -> isFree("a") && isFree("b") && isFree("c"));
  }

  @Test
  void groupsInOppositeOrdersAndSingleLocksNeitherMeetNorBlockForEver() throws Exception {
    Map<String, Boolean> inside = new ConcurrentHashMap<>();
    List<Running<Boolean>> all = new ArrayList<>();
    List<String> four = names("a", "b", "c", "d");
    for (int t = 0; t < 6; t++) {
      Pawl client = t % 2 == 0 ? here : there;
      boolean single = t >= 4;
      all.add(
          bench.start(
              () -> {
                for (int round = 0; round < ROUNDS; round++) {
                  visit(client, some(four, single ? 1 : 3), inside);
                }
                return true;
              }));
    }
    for (Running<Boolean> one : all) {
      assertThat(one.result()).isTrue();
    }
    eventually(() -> isFree("a") && isFree("b") && isFree("c") && isFree("d"));
  }

  private static List<String> some(List<String> names, int count) {
    List<String> shuffled = new ArrayList<>(names);
    Collections.shuffle(shuffled, ThreadLocalRandom.current());
    return shuffled.subList(0, count);
  }

  private static void visit(Pawl client, List<String> names, Map<String, Boolean> inside)
      throws InterruptedException {
    try (AutoCloseableQuietly lease = take(client, names)) {
      names.forEach(name -> assertThat(inside.put(name, true)).as("alone in %s", name).isNull());
      Thread.yield();
      names.forEach(inside::remove);
    }
  }

  private interface AutoCloseableQuietly extends AutoCloseable {
    @Override
    void close();
  }

  private static AutoCloseableQuietly take(Pawl client, List<String> names)
      throws InterruptedException {
    if (names.size() == 1) {
      return client.lock(names.get(0), Bench.LONG).acquire()::close;
    }
    return client.lockAll(names, Bench.LONG).acquire()::close;
  }

  @Test
  void listsThatCannotBeAreRefusedBeforeAnythingIsSent() {
    int before = network.calls(Verb.ATTEMPT);
    assertThatThrownBy(() -> here.lockAll())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("none");
    assertThatThrownBy(() -> here.lockAll("a", "b", "a"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'a' is there twice");
    assertThatThrownBy(() -> here.lockAll("a", ""))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("empty");
    List<String> tooMany = new ArrayList<>();
    for (int i = 0; i <= LockGroup.MAX_NAMES; i++) {
      tooMany.add("n" + i);
    }
    assertThatThrownBy(() -> here.lockAll(tooMany)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> group(here, "a").tryAcquire(Duration.ofMillis(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(network.calls(Verb.ATTEMPT)).isEqualTo(before);
  }
}
