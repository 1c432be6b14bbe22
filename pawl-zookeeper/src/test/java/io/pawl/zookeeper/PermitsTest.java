package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Kind;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waiters for permits: as many of these as there are, and as the change of their number. */
class PermitsTest {

  private static final int MANY = 400;
  private static final int AT_ONCE = 20;

  /** Of two sessions. */
  private static final int PULSES = 6;

  private static final int MOST_ROUNDS = 10;

  /** Of one client, of whom the last ones need not look at the queue. */
  private static final int WAITERS = 3 * Followers.MOST_LOOKING;

  private static final int FEW = 2;

  private static final Duration SLOW = Duration.ofMillis(20);

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final FaultProxy proxy = FaultProxy.before(server);
  private final ZooKeeperStore store =
      Seam.connect("zk://" + proxy.host() + ":" + proxy.port() + ContractServers.PARAMETERS);
  private final Seam seam = new Seam(store);
  private final ZooKeeperStore near =
      Seam.connect("zk://" + server.address() + ContractServers.PARAMETERS);
  private final Seam other = new Seam(near);

  @AfterEach
  void close() {
    proxy.heal();
    store.close();
    near.close();
    proxy.close();
    server.close();
  }

  /**
   * The client is told that the number has changed, and loses the answer to what it is now. False
   * if something else was lost.
   */
  private boolean changeUnheard(String lock, int permits) {
    awaitPulses(); // the event answers none of its requests
    int dropped = proxy.droppedReplies();
    proxy.dropReplies(1, AfterDrop.RESET, new Nodes("/pawl").lock(lock));
    assertThat(Seam.answer(near.setKind(lock, new Kind(permits)))).isTrue();
    int trips = proxy.trips();
    await().until(() -> proxy.droppedReplies() > dropped || proxy.trips() >= trips + PULSES);
    proxy.heal();
    return proxy.droppedReplies() > dropped;
  }

  private void awaitPulses() {
    int trips = proxy.trips();
    await().until(() -> proxy.trips() >= trips + PULSES);
  }

  private Claim waiter(Claim claim, List<Standing> rung) {
    assertThat(untilItAnswers(() -> Seam.answer(store.attempt(claim, rung::add))))
        .isInstanceOf(Standing.Waiting.class);
    return claim;
  }

  @Test
  void aWaiterIsServedByPermitsThatWereAddedWhileTheConnectionWasLost() {
    for (int round = 0; round < MOST_ROUNDS; round++) {
      String lock = "more" + round;
      other.take(other.permits(lock, 1, 1));
      Claim waiter = waiter(seam.permits(lock, 1, 1), new ArrayList<>());

      boolean unheard = changeUnheard(lock, 2);

      await().until(() -> untilItAnswers(() -> seam.renew(waiter)) instanceof Standing.Held);
      if (unheard) {
        return;
      }
    }
    throw new AssertionError("no answer was lost");
  }

  @Test
  void p1_noMorePermitsAreOutThanThereAreThoughTheirChangeWasNotHeard() {
    for (int round = 0; round < MOST_ROUNDS; round++) {
      String lock = "fewer" + round;
      Claim first = other.permits(lock, 1, 3);
      Claim second = other.permits(lock, 1, 3);
      other.take(first);
      other.take(second);
      List<Standing> rung = new ArrayList<>();
      Claim waiter = waiter(seam.permits(lock, 2, 3), rung);

      boolean unheard = changeUnheard(lock, 2);
      other.withdraw(first);

      assertThat(untilItAnswers(() -> seam.renew(waiter))).isInstanceOf(Standing.Waiting.class);
      assertThat(rung).isEmpty();
      other.withdraw(second);
      await().until(() -> untilItAnswers(() -> seam.renew(waiter)) instanceof Standing.Held);
      if (unheard) {
        return;
      }
    }
    throw new AssertionError("no answer was lost");
  }

  @Test
  void aWaiterBehindHundredsOfPermitsIsAnsweredAndServedOnASlowNetwork() {
    List<Claim> holders = new ArrayList<>();
    List<CompletionStage<Standing>> taken = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      holders.add(other.permits("many", 1, MANY));
      taken.add(near.attempt(holders.get(i), standing -> {}));
      if (taken.size() == AT_ONCE) {
        taken.forEach(each -> assertThat(Seam.answer(each)).isInstanceOf(Standing.Held.class));
        taken.clear();
      }
    }
    Claim beside = seam.claim("beside");
    seam.take(beside);
    proxy.delay(Direction.TO_CLIENT, SLOW);

    Claim waiter = seam.permits("many", 1, MANY);
    assertThat(seam.attempt(waiter)).isInstanceOf(Standing.Waiting.class);

    Map<ClaimId, Standing> renewed = Seam.answer(store.renew(List.of(beside, waiter)));
    assertThat(renewed.get(beside.id())).isInstanceOf(Standing.Held.class);
    assertThat(renewed.get(waiter.id())).isInstanceOf(Standing.Waiting.class);
    other.withdraw(holders.get(0)); // the farthest from the waiter
    await().until(() -> seam.renew(waiter) instanceof Standing.Held);
  }

  private List<Claim> holders(String lock, int permits) {
    List<Claim> holders = new ArrayList<>();
    for (int i = 0; i < permits; i++) {
      holders.add(other.permits(lock, 1, permits));
      other.take(holders.get(i));
    }
    return holders;
  }

  /** As many of one client as some of them need not look at the queue. */
  private List<Claim> waiters(String lock, int permits, List<ClaimId> served) {
    List<Claim> waiters = new ArrayList<>();
    for (int i = 0; i < WAITERS; i++) {
      Claim claim = seam.permits(lock, 1, permits);
      Standing standing = Seam.answer(store.attempt(claim, rung -> served.add(claim.id())));
      assertThat(standing).isInstanceOf(Standing.Waiting.class);
      waiters.add(claim);
    }
    return waiters;
  }

  @Test
  void p6_eachOfManyWaitersOfAClientIsServedInOrderWithoutARenewal() {
    List<Claim> holders = holders("served", FEW);
    List<ClaimId> served = new CopyOnWriteArrayList<>();
    List<Claim> waiters = waiters("served", FEW, served);

    holders.forEach(other::withdraw);
    for (int i = 0; i < WAITERS; i++) {
      int known = i + 1;
      await().until(() -> served.size() >= known);
      seam.withdraw(waiters.get(i));
    }

    assertThat(served).isEqualTo(waiters.stream().map(Claim::id).toList());
  }

  @Test
  void p6_aWaiterIsServedThoughAllThatItsClientHasBeforeItGiveUp() {
    List<Claim> holders = holders("given up", FEW);
    List<ClaimId> served = new CopyOnWriteArrayList<>();
    List<Claim> waiters = waiters("given up", FEW, served);
    Claim last = waiters.get(WAITERS - 1);

    waiters.stream().limit(WAITERS - 1L).forEach(seam::withdraw);
    other.withdraw(holders.get(0));

    await().until(() -> served.contains(last.id()));
    assertThat(served).containsExactly(last.id());
  }

  @Test
  void aWaiterBehindManyOfItsClientLosesItsPlaceWhenItWantsMorePermitsThanAreLeft() {
    holders("fewer", FEW);
    waiters("fewer", FEW, new ArrayList<>());
    Claim greedy = waiter(seam.permits("fewer", FEW, FEW), new ArrayList<>());

    assertThat(Seam.answer(near.setKind("fewer", new Kind(FEW - 1)))).isTrue();

    await().until(() -> Seam.answer(near.show("fewer")).orElseThrow().waiters().size() == WAITERS);
    assertThat(seam.renew(greedy)).isEqualTo(Standing.GONE);
  }

  @Test
  void whoeverAsksBehindManyWaitersOfItsClientIsToldThatThePermitsAreBusy() {
    holders("busy", FEW);
    waiters("busy", FEW, new ArrayList<>());

    assertThat(seam.attempt(seam.impatient("busy", FEW))).isEqualTo(Standing.GONE);
  }

  @Test
  void whoeverAsksForPermitsThatAreFreeIsNotToldThatTheyAreBusy() throws Exception {
    String path = new Nodes("/pawl").lock("free");
    holders("free", 2 * WAITERS);
    try (ZooKeeper raw = new ZooKeeper(server.address(), 10_000, event -> {})) {
      List<Op> endings =
          raw.getChildren(path, false).stream()
              .map(name -> Op.delete(path + "/" + name, -1))
              .toList();
      waiters("free", 2 * WAITERS, new ArrayList<>());
      proxy.delay(Direction.TO_CLIENT, SLOW);

      raw.multi(endings); // as their session ends

      seam.take(seam.impatient("free", 2 * WAITERS));
    }
  }
}
