package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.QuorumNode.Incarnation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a node is raised to that has forgotten its tokens. */
class RejoinTest {

  private static Incarnation remembers(long highest) {
    return new Incarnation("server", Duration.ZERO, 0, true, highest);
  }

  private static Incarnation forgot(long highest) {
    return new Incarnation("server", Duration.ZERO, 0, false, highest);
  }

  private static long above(int node, @Nullable Incarnation... who) {
    List<@Nullable Incarnation> all = Arrays.asList(who);
    return Rejoin.above(all, node);
  }

  @Test
  void aNodeIsRaisedToTheLargestOfAMajorityOfTheOthers() {
    assertThat(above(1, remembers(7), forgot(99), remembers(9))).isEqualTo(9);
    assertThat(above(0, forgot(0), null, remembers(3), remembers(8), remembers(5))).isEqualTo(8);
  }

  /** The node that is away may be the one that knows the largest token. */
  @Test
  void aNodeWaitsWhileAMajorityOfTheOthersCannotBeAsked() {
    assertThat(above(1, null, forgot(0), remembers(9))).isEqualTo(-1);
    assertThat(above(0, forgot(0), null, null, remembers(3), remembers(8))).isEqualTo(-1);
    assertThat(above(0, forgot(0), forgot(0), null, remembers(3), remembers(8))).isEqualTo(-1);
  }

  @Test
  void whereAMajorityHasForgottenAllThatAnswerAreAsked() {
    assertThat(above(1, forgot(4), forgot(0), remembers(9))).isEqualTo(9);
    assertThat(above(1, forgot(4), forgot(6), forgot(5))).isEqualTo(6);
    assertThat(above(1, null, forgot(4), forgot(6))).isEqualTo(6);
    assertThat(above(1, null, forgot(4), null)).isEqualTo(-1);
  }

  private final World world = new World();
  private final List<MemoryNode> stores = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();

  private void open() {
    for (int i = 0; i < 5; i++) {
      MemoryNode store = new MemoryNode(new MemoryStore(), "memory " + i);
      stores.add(store);
      Node node = new Node(store.describe(), () -> store, world.time(), new Lanes("rejoin-" + i));
      node.open();
      nodes.add(node);
    }
  }

  private void rejoin() {
    new Rejoin(nodes, world.time(), 500_000_000L).lookSoon();
    world.run(2_000_000_000L);
  }

  @AfterEach
  void close() {
    nodes.forEach(Node::close);
  }

  /** Node 4 is asked, and neither answers nor fails. */
  @Test
  void p6_someoneGetsIn_aNodeIsRaisedThoughAnotherOneSaysNothing() {
    open();
    stores.get(0).forgetsItsTokens();
    stores.get(4).isMute();

    rejoin();

    assertThat(stores.get(0).raisedTo()).isZero();
  }

  /** What was granted with its lost vote may have been granted after the others were asked. */
  @Test
  void p2_tokensOnlyGrow_aNodeWhoseTimeEndsWhileTheOthersAreAskedIsRaisedByTheNextQuestion() {
    open();
    stores.get(0).forgetsItsTokens();
    stores.get(1).forgetsItsTokens();
    stores.get(1).votesAfterOneQuestion();

    rejoin();
    assertThat(stores.get(0).raisedTo()).isZero();
    assertThat(stores.get(1).raisedTo()).isEqualTo(-1);

    rejoin();
    assertThat(stores.get(1).raisedTo()).isZero();
  }

  /**
   * Databases read the tokens of all their locks, one question after another: others that were put
   * before the earlier ones are answered would never be answered in time.
   */
  @Test
  void p6_someoneGetsIn_aNodeIsRaisedThoughOthersTakeLongToSayWhatTheyHaveGranted() {
    open();
    stores.get(0).forgetsItsTokens();
    stores.get(0).votesIn(Duration.ofMinutes(1));
    stores.forEach(store -> store.isSlowToSayWhoItIs(world.time(), 300_000_000L));
    Rejoin rejoin = new Rejoin(nodes, world.time(), 500_000_000L);
    for (int i = 0; i < 1_200; i++) {
      world.later(i * 50_000_000L, rejoin::lookSoon);
    }
    world.run(58_000_000_000L);

    stores.get(0).votesIn(Duration.ZERO);
    world.run(2_000_000_000L);

    assertThat(stores.get(0).raisedTo()).isZero();
  }

  @Test
  void p6_someoneGetsIn_aNodeIsRaisedThoughOthersOnceTookTooLongToSayWhatTheyHaveGranted() {
    open();
    stores.get(0).forgetsItsTokens();
    stores.forEach(store -> store.isSlowToSayWhoItIs(world.time(), 600_000_000L));
    Rejoin rejoin = new Rejoin(nodes, world.time(), 500_000_000L);
    rejoin.lookSoon();
    world.run(5_000_000_000L);
    assertThat(stores.get(0).raisedTo()).isEqualTo(-1);

    stores.forEach(store -> store.isSlowToSayWhoItIs(world.time(), 1_000_000L));
    rejoin.lookSoon();
    world.run(2_000_000_000L);

    assertThat(stores.get(0).raisedTo()).isZero();
  }
}
