package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Standing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How many requests a server receives of a session: as many as docs/ZOOKEEPER.md says. */
class CostTest {

  /** Signs of life are told twice a tick, so that none comes meanwhile. */
  private static final String PARAMETERS = "?tick=1m&timeout=1m";

  private static final int CYCLE = 3;

  /** Its node, the list, and the two nearest. */
  private static final int JOIN = 4;

  private static final int MANY = 60;
  private static final int HAND_OFFS = 10;
  private static final int BLOCK = 64;

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final Client one = new Client();
  private final Client other = new Client();

  /** A client, whose claims have one session. */
  private final class Client implements AutoCloseable {
    final ZooKeeperStore store = Seam.connect("zk://" + server.address() + PARAMETERS);
    final Seam seam = new Seam(store);
    final List<Standing> rung = new CopyOnWriteArrayList<>();

    Client() {
      Claim claim = seam.claim("lock");
      seam.take(claim); // its session is open, and the lock's node known
      seam.withdraw(claim);
    }

    Claim waits(Claim claim) {
      assertThat(Seam.answer(store.attempt(claim, rung::add))).isInstanceOf(Standing.Waiting.class);
      return claim;
    }

    Standing.Held awaitRing(int number) {
      await().atMost(Duration.ofSeconds(30)).until(() -> rung.size() >= number);
      return (Standing.Held) rung.get(number - 1);
    }

    @Override
    public void close() {
      store.close();
    }
  }

  @AfterEach
  void close() {
    one.close();
    other.close();
    server.close();
  }

  /** Of all sessions whose claims have been made. */
  private long received() {
    try {
      Matcher each = Pattern.compile("recved=(\\d+).*?,to=(\\d+)").matcher(server.ask("cons"));
      long received = 0;
      while (each.find()) {
        if (Integer.parseInt(each.group(2)) >= Seam.LEASE.toMillis()) {
          received += Long.parseLong(each.group(1));
        }
      }
      return received;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void awaitReceived(long number) {
    await().atMost(Duration.ofSeconds(30)).until(() -> received() >= number);
    assertThat(received()).isEqualTo(number);
  }

  @Test
  void aFreeLockIsTakenAndReleasedByThreeRequests() {
    long before = received();

    Claim claim = one.seam.claim("lock");
    one.seam.take(claim);
    one.seam.withdraw(claim);

    assertThat(received() - before).isEqualTo(CYCLE);
  }

  @Test
  void whoeverIsNextHasSeenThatTheHolderAloneStandsBeforeItAndAsksNothingAtTheHandOff() {
    try (Client third = new Client()) {
      Claim holder = one.seam.claim("lock");
      one.seam.take(holder);
      Claim second = other.waits(other.seam.claim("lock"));
      Claim before = one.waits(one.seam.claim("lock"));
      long begun = received();
      Claim last = third.waits(third.seam.claim("lock"));
      assertThat(received() - begun).isEqualTo(JOIN);
      one.seam.withdraw(holder);
      other.awaitRing(1);

      other.seam.withdraw(second);

      one.awaitRing(1);
      awaitReceived(begun + JOIN + 3); // two releases, and a list by who is next but one
      one.seam.withdraw(before);
      third.awaitRing(1);
      assertThat(received() - begun).isEqualTo(JOIN + 4);
      third.seam.withdraw(last);
    }
  }

  @Test
  void holdsAreRenewedApartFromClaimsThatWait() {
    Claim held = one.seam.claim("lock");
    one.seam.take(held);
    Claim waiting = one.waits(one.seam.claim("lock"));
    int ofHolds = one.store.renewGroup(held);
    assertThat(one.store.renewGroup(waiting)).isNotEqualTo(ofHolds);

    one.seam.withdraw(held);
    one.awaitRing(1);

    assertThat(one.store.renewGroup(waiting)).isEqualTo(ofHolds);
  }

  @Test
  void aHandOffCostsTheSameHoweverManyWait() {
    List<Claim> queue = new ArrayList<>();
    queue.add(one.seam.claim("lock"));
    one.seam.take(queue.get(0));
    for (int i = 1; i < MANY; i++) {
      Client client = i % 2 == 0 ? one : other;
      queue.add(client.waits(client.seam.claim("lock")));
    }
    one.seam.withdraw(queue.get(0));
    other.awaitRing(1);
    long before = received();

    for (int i = 1; i <= HAND_OFFS; i++) {
      (i % 2 == 0 ? one : other).seam.withdraw(queue.get(i));
      (i % 2 == 0 ? other : one).awaitRing((i + 2) / 2);
    }

    awaitReceived(before + 2L * HAND_OFFS); // a release, and the list of who is next but one
  }

  @Test
  void manyWhoJoinAtOnceShareTwoLists() {
    Claim holder = other.seam.claim("lock");
    other.seam.take(holder);
    long before = received();
    List<Claim> claims = new ArrayList<>();
    List<CompletionStage<Standing>> answers = new ArrayList<>();

    server.pause();
    for (int i = 0; i < MANY; i++) {
      claims.add(one.seam.claim("lock"));
      answers.add(one.store.attempt(claims.get(i), one.rung::add));
    }
    server.resume();

    answers.forEach(each -> assertThat(Seam.answer(each)).isInstanceOf(Standing.Waiting.class));
    assertThat(received() - before).isEqualTo(2L * MANY + 2); // a node and a look for each
  }

  @Test
  void waitersOfAClientForPermitsLookNoMoreAtWhatOneOfThemWatches() {
    for (int i = 0; i < MANY; i++) {
      other.seam.take(other.seam.permits("permits", 1, MANY));
    }
    one.waits(one.seam.permits("permits", 1, MANY));
    long before = received();

    for (int i = 1; i < MANY; i++) {
      one.waits(one.seam.permits("permits", 1, MANY));
    }

    int waitersLookedAt = Followers.MOST_LOOKING - 1;
    // a node, a list and the number of permits for each
    assertThat(received() - before).isEqualTo(3L * (MANY - 1) + waitersLookedAt);
  }

  @Test
  void aGrantNamesTheClaimsOfItsClientThatStandDirectlyBehindIt() {
    Claim holder = other.seam.claim("lock");
    other.seam.take(holder);
    List<Claim> block = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      block.add(one.waits(one.seam.claim("lock", Seam.LEASE, BLOCK)));
    }
    Claim between = other.waits(other.seam.claim("lock"));
    Claim behind = one.waits(one.seam.claim("lock", Seam.LEASE, BLOCK));

    other.seam.withdraw(holder);

    assertThat(one.awaitRing(1).followers()).containsExactly(block.get(1).id(), block.get(2).id());
    for (int i = block.size() - 1; i >= 0; i--) {
      one.seam.withdraw(block.get(i));
    }
    other.awaitRing(1);
    other.seam.withdraw(between);
    assertThat(one.awaitRing(2).followers()).isEmpty();
    one.seam.withdraw(behind);
  }

  @Test
  void aGrantNamesNoMoreFollowersThanItHasTokensFor() {
    Claim holder = other.seam.claim("lock");
    other.seam.take(holder);
    one.waits(one.seam.claim("lock", Seam.LEASE, 2));
    Claim second = one.waits(one.seam.claim("lock", Seam.LEASE, 2));
    one.waits(one.seam.claim("lock", Seam.LEASE, 2));

    other.seam.withdraw(holder);

    assertThat(one.awaitRing(1).followers()).containsExactly(second.id());
  }

  @Test
  void aClaimThatHasLeftIsNoFollower() {
    Claim holder = other.seam.claim("lock");
    other.seam.take(holder);
    one.waits(one.seam.claim("lock", Seam.LEASE, BLOCK));
    Claim left = one.waits(one.seam.claim("lock", Seam.LEASE, BLOCK));
    one.seam.withdraw(left);

    other.seam.withdraw(holder);

    assertThat(one.awaitRing(1).followers()).isEmpty();
  }

  @Test
  void aHoldHasSixtyFourTokensHoweverManyItsClaimWouldLike() {
    Standing.Held held = one.seam.take(one.seam.claim("lock", Seam.LEASE, 65_536));

    assertThat(held.lastToken() - held.token() + 1).isEqualTo(64);
  }

  /** The names of its claims, and what they have; signs of life may come in between. */
  @Test
  void aLookAtALockIsTwoTrips() {
    one.seam.take(one.seam.claim("lock"));
    other.waits(other.seam.claim("lock"));
    try (FaultProxy proxy = FaultProxy.before(server);
        ZooKeeperStore onlooker =
            Seam.connect("zk://" + proxy.host() + ":" + proxy.port() + PARAMETERS)) {
      look(onlooker);

      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> {
                int before = proxy.trips();
                look(onlooker);
                return proxy.trips() - before == 2;
              });
    }
  }

  private static void look(ZooKeeperStore onlooker) {
    LockView view = Seam.answer(onlooker.show("lock")).orElseThrow();
    assertThat(view.holders()).hasSize(1);
    assertThat(view.waiters()).hasSize(1);
  }
}
