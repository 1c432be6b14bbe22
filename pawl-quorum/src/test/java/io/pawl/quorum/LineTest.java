package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Who is served when, in virtual time, where messages to some nodes take longer. */
class LineTest {

  private static final long MILLI = 1_000_000;
  private static final int NODES = 5;

  private final World world = new World();
  private final List<SimulatedNode.Server> servers = new ArrayList<>();
  private final List<String> grants = new ArrayList<>();
  private int clients;

  LineTest() {
    for (int i = 0; i < NODES; i++) {
      servers.add(new SimulatedNode.Server(world, "node " + i, () -> 2 * world.epochMicros()));
    }
  }

  /** Whose line node 0 is. */
  private static String lock() {
    int number = 0;
    while (Math.floorMod(("line" + number).hashCode(), NODES) != 0) {
      number++;
    }
    return "line" + number;
  }

  /** One client, whose messages to each node take {@code delays} of a millisecond. */
  private final class Client {
    private final String name = "client" + clients++;
    private final long[] delays;
    private final List<Node> nodes = new ArrayList<>();
    private final QuorumLocks locks;
    private final Map<ClaimId, Claim> claims = new HashMap<>();

    Client(long... delays) {
      this.delays = delays;
      QuorumOptions options = QuorumOptions.defaults().longestLease(Duration.ofMinutes(10));
      for (int i = 0; i < NODES; i++) {
        int number = i;
        SimulatedNode store =
            new SimulatedNode(world, servers.get(i), () -> this.delays[number] * MILLI / 10);
        Node node = new Node(store.describe(), () -> store, world.time(), new Lanes(name));
        node.open();
        nodes.add(node);
      }
      locks = new QuorumLocks(nodes, options, world.time(), new Random(clients));
    }

    Claim claim(Mode mode, boolean queues) {
      return claim(mode, queues, Duration.ZERO);
    }

    Claim claim(Mode mode, boolean queues, Duration minHold) {
      return new Claim(
          lock(),
          new ClaimId(name, claims.size() + 1),
          mode,
          Duration.ofSeconds(20),
          minHold,
          queues,
          1,
          0,
          false,
          new Holder("host", 1, "thread", "", ""));
    }

    /** Asks as the engine does; {@code who} is noted when it is granted. */
    Claim ask(String who, Mode mode) {
      return asked(who, claim(mode, true));
    }

    /** As {@link #ask}, but it does not wait for others. */
    Claim tryTo(String who) {
      return tryTo(who, Mode.EXCLUSIVE);
    }

    Claim tryTo(String who, Mode mode) {
      return asked(who, claim(mode, false));
    }

    void renew(String who, Claim claim) {
      locks.renew(List.of(claim)).thenAccept(told -> note(who, told.get(claim.id())));
    }

    private Claim asked(String who, Claim claim) {
      claims.put(claim.id(), claim);
      locks
          .attempt(claim, standing -> note(who, standing))
          .thenAccept(standing -> note(who, standing));
      return claim;
    }
  }

  private void note(String who, Standing standing) {
    if (standing instanceof Standing.Held) {
      grants.add(who);
    }
  }

  private void run(long millis) {
    world.run(millis * MILLI);
  }

  /** A message of the first client takes long to the seat, where the others stand before it. */
  @Test
  void theSeatAloneDecidesWhoIsServedFirst() {
    Client late = new Client(200, 1, 1, 1, 1);
    Client prompt = new Client(1, 1, 1, 1, 1);
    Map<String, Claim> claims = new HashMap<>();
    claims.put("first", late.ask("first", Mode.EXCLUSIVE));
    run(2);
    claims.put("second", prompt.ask("second", Mode.EXCLUSIVE));
    run(2);
    claims.put("third", prompt.ask("third", Mode.EXCLUSIVE));
    run(300);

    for (int i = 0; i < 3; i++) {
      assertThat(grants).hasSize(i + 1);
      String holder = grants.get(i);
      (holder.equals("first") ? late : prompt).locks.withdraw(claims.get(holder));
      run(300);
    }
    assertThat(grants).containsExactly("second", "third", "first");
  }

  @Test
  void readersAreServedTogether_thoughTheWriterBeforeThemWasLateAtTheSeat() {
    Client late = new Client(200, 1, 1, 1, 1);
    Client prompt = new Client(1, 1, 1, 1, 1);
    Claim writer = late.ask("writer", Mode.EXCLUSIVE);
    run(2);
    Claim reader = prompt.ask("reader", Mode.SHARED);
    run(2);
    Claim other = prompt.ask("other", Mode.SHARED);
    Claim next = prompt.ask("next writer", Mode.EXCLUSIVE);
    run(300);

    late.locks.withdraw(writer);
    run(300);
    assertThat(grants).contains("reader", "other").doesNotContain("next writer");
    prompt.locks.withdraw(reader);
    prompt.locks.withdraw(other);
    run(300);
    assertThat(grants).endsWith("next writer");
    prompt.locks.withdraw(next);
  }

  /** All nodes that answer have to grant the same, and each reader is the first at one of them. */
  @Test
  void p6_someoneGetsIn_readersWhoAskNodesInDifferentOrdersDoNotChaseEachOther() {
    servers.get(3).away = true;
    servers.get(4).away = true;
    Client one = new Client(10, 10, 20, 10, 10);
    Client other = new Client(10, 20, 10, 10, 10);

    one.tryTo("one", Mode.SHARED);
    other.tryTo("other", Mode.SHARED);
    run(100);

    assertThat(grants).containsExactlyInAnyOrder("one", "other");
  }

  /** Two nodes are away, the first among them, and one client has once found the next one late. */
  @Test
  void p6_someoneGetsIn_thoughClientsStandInLineAtDifferentNodes() {
    servers.get(0).away = true;
    servers.get(4).away = true;
    Client one = new Client(1, 1, 1, 1, 1);
    Client other = new Client(1, 600, 1, 1, 1);
    Map<String, Runnable> ends = new HashMap<>();
    for (int i = 0; i < 20; i++) {
      String who = "waiter " + i;
      Client client = i % 2 == 0 ? one : other;
      Claim claim = client.ask(who, Mode.EXCLUSIVE);
      ends.put(who, () -> client.locks.withdraw(claim));
      run(20);
    }
    other.delays[1] = 1;

    int ended = 0;
    for (int i = 0; i < 1_000; i++) {
      run(10);
      for (; ended < grants.size(); ended++) {
        ends.get(grants.get(ended)).run();
      }
    }

    assertThat(grants).hasSize(ends.size());
  }

  /** The holder's withdrawal is at the seat and two others, and takes 40 ms to the last two. */
  @Test
  void whoIsNextKeepsItsTurnWhileOthersAreStillToldOfTheRelease() {
    Client holder = new Client(1, 1, 1, 1, 1);
    Client prompt = new Client(1, 1, 1, 1, 1);
    Claim first = holder.ask("first", Mode.EXCLUSIVE);
    run(5);
    prompt.ask("second", Mode.EXCLUSIVE);
    prompt.ask("third", Mode.EXCLUSIVE);
    run(5);
    assertThat(grants).containsExactly("first");
    for (int i = 1; i < NODES; i++) {
      holder.delays[i] = 400;
    }

    long givenBack = prompt.locks.figures().get("nodes.yielded");

    holder.locks.withdraw(first);
    run(300);

    assertThat(grants).containsExactly("first", "second");
    assertThat(prompt.locks.figures()).containsEntry("nodes.yielded", givenBack);
  }

  /** Its seat has rung, and the others are asked for the first time when the renewal comes. */
  @Test
  void aRenewalWaitsForNodesThatWereAskedBeforeIt() {
    Client holder = new Client(1, 1, 1, 1, 1);
    Client waiter = new Client(1, 1, 1, 1, 1);
    Claim first = holder.ask("first", Mode.EXCLUSIVE);
    run(5);
    Claim second = waiter.ask("second", Mode.EXCLUSIVE);
    run(5);
    for (int i = 1; i < NODES; i++) {
      waiter.delays[i] = 300;
    }
    holder.locks.withdraw(first);
    run(1);

    CompletableFuture<Map<ClaimId, Standing>> renewal =
        waiter.locks.renew(List.of(second)).toCompletableFuture();
    run(200);

    assertThat(renewal).isCompleted();
    assertThat(renewal.join().get(second.id())).isInstanceOf(Standing.Held.class);
  }

  /** Whoever comes first at the seat; others may be first at all the other nodes. */
  @Test
  void p6_someoneGetsIn_ofThoseWhoTryAtOnceOneDoes() {
    Random random = new Random(3);
    List<Client> ten = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      ten.add(new Client(1, 1, 1, 1, 1));
    }
    for (int round = 0; round < 200; round++) {
      grants.clear();
      List<Runnable> withdrawals = new ArrayList<>();
      for (Client client : ten) {
        for (int i = 0; i < NODES; i++) {
          client.delays[i] = 1 + random.nextInt(10);
        }
        client.delays[0] += random.nextInt(30);
        Claim claim = client.tryTo("holder");
        withdrawals.add(() -> client.locks.withdraw(claim));
      }
      run(400);
      assertThat(grants).as("round %s", round).hasSize(1);
      withdrawals.forEach(Runnable::run);
      run(20);
    }
  }

  /** Two nodes are silent, and a renewal comes between the ends of the hold at the others. */
  @Test
  void aHoldThatWasEndedAtAllNodesThatAnswerIsLost() {
    Client client = new Client(1, 1, 1, 1, 1);
    Claim claim = client.ask("holder", Mode.EXCLUSIVE);
    run(10);
    assertThat(grants).containsExactly("holder");
    client.delays[3] = 100_000;
    client.delays[4] = 100_000;
    servers.get(0).forget(lock());
    client.locks.renew(List.of(claim));
    run(1_000);
    servers.get(1).forget(lock());
    servers.get(2).forget(lock());

    List<Standing> told = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      client
          .locks
          .renew(List.of(claim))
          .thenAccept(standings -> told.add(standings.get(claim.id())));
      run(1_000);
    }

    assertThat(told).contains(Standing.GONE).doesNotHaveAnyElementsOfTypes(Standing.Held.class);
  }

  /** The seat forgets the holder, which takes it back 20 s after the grant. */
  @Test
  void theShortestHoldCountsFromTheGrantAtNodesThatWereTakenBackToo() {
    Client client = new Client(1, 1, 1, 1, 1);
    Claim claim = client.asked("job", client.claim(Mode.EXCLUSIVE, true, Duration.ofSeconds(30)));
    for (int i = 0; i < 4; i++) {
      run(5_000);
      client.locks.renew(List.of(claim));
    }
    servers.get(0).forget(lock());
    for (int i = 0; i < 2; i++) {
      client.locks.renew(List.of(claim));
      run(100);
    }
    client.locks.withdraw(claim);
    Client other = new Client(1, 1, 1, 1, 1);
    Claim next = other.ask("next", Mode.EXCLUSIVE);

    for (int i = 0; i < 3; i++) {
      run(3_000);
      other.renew("next", next);
    }
    assertThat(grants).containsExactly("job");
    run(1_500);
    other.renew("next", next);
    run(100);
    assertThat(grants).containsExactly("job", "next");
  }

  /** Node 4 is away when a hold is given back for nothing, and comes back in 2 minutes. */
  @Test
  void p8_nothingLeftBehind_aNodeIsToldOfTheEndAsLongAsTheShortestHoldLasts() {
    Client client = new Client(1, 1, 1, 1, 1);
    Claim claim = client.asked("job", client.claim(Mode.EXCLUSIVE, true, Duration.ofMinutes(10)));
    run(10);
    assertThat(grants).containsExactly("job");
    servers.get(4).away = true;

    client.locks.withdraw(claim.withMinHold(Duration.ZERO));
    run(120_000);
    servers.get(4).away = false;
    run(2_000);

    assertThat(servers.get(4).isHeld(lock())).isFalse();
  }

  @Test
  void holdsAreRenewedApartFromClaimsThatWait() {
    Client client = new Client(1, 1, 1, 1, 1);
    Claim held = client.ask("held", Mode.EXCLUSIVE);
    run(5);
    Claim waiting = client.ask("waiting", Mode.EXCLUSIVE);
    run(5);

    assertThat(client.locks.renewGroup(held)).isNotEqualTo(client.locks.renewGroup(waiting));
    client.locks.withdraw(held);
    run(300);

    assertThat(grants).containsExactly("held", "waiting");
    assertThat(client.locks.renewGroup(waiting)).isEqualTo(0);
  }

  /** The seat, which lets other readers in, has answered the downgrade and now says nothing. */
  @Test
  void aHoldThatWasDowngradedIsRenewedByAMajority() {
    Client client = new Client(1, 1, 1, 1, 1);
    Claim writer = client.ask("writer", Mode.EXCLUSIVE);
    run(5);
    client
        .locks
        .attempt(writer.as(Mode.SHARED), standing -> {})
        .thenAccept(standing -> note("downgraded", standing));
    run(5);
    client.delays[0] = 100_000;

    client.renew("renewed", writer);
    run(5);

    assertThat(grants).containsExactly("writer", "downgraded", "renewed");
  }

  @Test
  void aStoreThatWasClosedRefusesAtOnce() {
    Client client = new Client(1, 1, 1, 1, 1);
    client.nodes.forEach(Node::leave);

    CompletableFuture<Standing> answer =
        client
            .locks
            .attempt(client.claim(Mode.EXCLUSIVE, true), standing -> {})
            .toCompletableFuture();

    assertThat(answer).isCompletedExceptionally();
    assertThat(answer.handle((standing, error) -> error).join())
        .isInstanceOf(StoreUnavailableException.class);
  }
}
