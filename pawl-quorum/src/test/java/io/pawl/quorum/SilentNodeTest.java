package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three nodes, of which one lets a claim in and then stands still, while the other two have yet to
 * agree on tokens. In virtual time.
 */
class SilentNodeTest {

  private static final long MICRO = 1_000;
  private static final long SECOND = 1_000_000_000L;

  private final World world = new World();
  private final List<SimulatedNode.Server> servers = new ArrayList<>();

  private void start(LongSupplier... tokensOfClocks) {
    for (LongSupplier tokens : tokensOfClocks) {
      servers.add(new SimulatedNode.Server(world, "node " + servers.size(), tokens));
    }
  }

  private LongSupplier clock(long aheadMicros) {
    return () -> 2 * (world.epochMicros() + aheadMicros);
  }

  private SimulatedNode connected(int node, long delay) {
    return new SimulatedNode(world, servers.get(node), () -> delay);
  }

  private QuorumLocks client(QuorumOptions options, long... delays) {
    List<SimulatedNode> stores = new ArrayList<>();
    for (int i = 0; i < delays.length; i++) {
      stores.add(connected(i, delays[i]));
    }
    return SimulatedNode.locks(world, stores, options, 1);
  }

  /** Node 0 is the seat. */
  private static Claim claim(String client, int number) {
    return Claims.exclusive(SimulatedClient.LOCK, client, number, Duration.ofSeconds(20));
  }

  /** Nodes 0 and 1 are asked for tokens above each other's when node 2 answers with larger ones. */
  @Test
  void p6_someoneGetsIn_thoughANodeFallsSilentThatWasAskedForLargerTokens() {
    start(clock(0), clock(1_000), clock(200_000));
    SimulatedClient.Witness witness = new SimulatedClient.Witness();
    List<SimulatedNode> stores =
        List.of(connected(0, 50 * MICRO), connected(1, 50 * MICRO), connected(2, 80 * MICRO));
    new SimulatedClient(
            world,
            stores,
            witness,
            "client",
            Duration.ofSeconds(20),
            SECOND / 100,
            QuorumOptions.defaults(),
            1)
        .next();
    world.run(120 * MICRO);
    servers.get(1).standsStill = true;

    world.run(SECOND);

    assertThat(witness.waits).hasSizeGreaterThan(10).allMatch(waited -> waited < SECOND / 5);
    assertThat(witness.wrongs).isEmpty();
  }

  /** Two nodes have nothing of it, which is a majority. */
  @Test
  void p8_nothingIsLeftBehind_andAWaiterLeavesThoughItsSeatFallsSilent() {
    start(clock(0), clock(0), clock(0));
    QuorumLocks holder = client(QuorumOptions.defaults(), 50 * MICRO, 50 * MICRO, 50 * MICRO);
    QuorumLocks other = client(QuorumOptions.defaults(), 50 * MICRO, 50 * MICRO, 50 * MICRO);
    holder.attempt(claim("holder", 1), rung -> {});
    world.run(SECOND / 100);
    Claim waiter = claim("other", 1);
    List<Standing> answers = new ArrayList<>();
    other.attempt(waiter, answers::add).thenAccept(answers::add);
    world.run(SECOND / 100);
    servers.get(0).standsStill = true;

    CompletableFuture<Void> left = other.withdraw(waiter).toCompletableFuture();
    world.run(SECOND / 5);

    assertThat(answers).hasSize(1).allMatch(Standing.Waiting.class::isInstance);
    assertThat(left).isCompleted();
  }

  /** Node 1 has the tokens of the seat, by its bell, and is to vote for them. */
  @Test
  void p6_someoneGetsIn_thoughANodeFallsSilentWhoseVoteAloneIsMissing() {
    start(() -> 0, () -> 0, () -> 0);
    List<SimulatedNode> others =
        List.of(connected(0, MICRO), connected(1, MICRO), connected(2, MICRO));
    grantAndEnd(others.get(0), 1);
    grantAndEnd(others.get(2), 5);
    Claim other = claim("other", 6);
    others.get(1).attempt(other, rung -> {});
    world.run(100 * MICRO);
    QuorumLocks locks = client(QuorumOptions.defaults(), 50 * MICRO, 50 * MICRO, SECOND / 200);
    List<Standing> answers = new ArrayList<>();
    locks.attempt(claim("client", 1), answers::add).thenAccept(answers::add);
    world.run(200 * MICRO);
    others.get(1).withdraw(other);
    world.run(80 * MICRO);
    servers.get(1).standsStill = true;

    world.run(SECOND / 5);

    assertThat(answers).hasSize(1).allMatch(Standing.Held.class::isInstance);
  }

  /**
   * Nodes 0 and 2 hold the claim when node 1 rings; node 2 needs longer for an answer than clocks
   * are asked to stay behind.
   */
  @Test
  void p6_someoneGetsIn_thoughTokensAreOldByTheTimeASlowNodeHasAnswered() {
    start(clock(0), clock(1_000), clock(0));
    SimulatedNode others = connected(1, MICRO);
    Claim other = claim("other", 1);
    others.attempt(other, rung -> {});
    world.run(100 * MICRO);
    QuorumOptions options = QuorumOptions.defaults().nodeTimeout(Duration.ofSeconds(5));
    QuorumLocks locks = client(options, 50 * MICRO, 50 * MICRO, 350_000 * MICRO);
    List<Standing> answers = new ArrayList<>();
    locks.attempt(claim("client", 1), answers::add).thenAccept(answers::add);
    world.run(720_000 * MICRO);
    others.withdraw(other);

    world.run(SECOND / 10);

    assertThat(answers).hasSize(1).allMatch(Standing.Held.class::isInstance);
  }

  /** Answers usually take 150 ms, and node 2 is asked every second. */
  @Test
  void p6_someoneGetsIn_thoughASilentNodeIsAskedAgainAndAgain() {
    start(() -> 0, () -> 0, () -> 0);
    long delay = 75_000 * MICRO;
    QuorumLocks locks = client(QuorumOptions.defaults(), delay, delay, delay);
    for (int i = 1; i <= 20; i++) {
      Claim before = brief(i);
      locks.attempt(before, rung -> {});
      world.run(SECOND);
      locks.withdraw(before);
      world.run(SECOND);
    }
    SimulatedNode others = connected(1, MICRO);
    grantAndEnd(others, 10);
    grantAndEnd(connected(2, MICRO), 5);
    Claim other = claim("other", 11);
    others.attempt(other, rung -> {});
    world.run(100 * MICRO);
    List<Standing.Held> held = new ArrayList<>();
    ask(locks, brief(21), held);
    world.run(SECOND / 10);
    servers.get(2).standsStill = true;
    world.run(SECOND);
    others.withdraw(other);

    world.run(5 * SECOND);

    assertThat(held).isNotEmpty();
  }

  /** Answers take 140 ms. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void p6_someoneGetsIn_thoughTheSeatIsSilentAndNoOtherNodeIsPrompt(boolean queues) {
    getsInThoughTheSeatIsSilent(QuorumOptions.defaults(), 70_000 * MICRO, queues);
  }

  /** Answers take 22 ms, and a question no longer than 50 ms. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void p6_someoneGetsIn_thoughTheSeatIsSilentAndNodesAreWaitedForBriefly(boolean queues) {
    QuorumOptions options = QuorumOptions.defaults().nodeTimeout(Duration.ofMillis(50));
    getsInThoughTheSeatIsSilent(options, 11_000 * MICRO, queues);
  }

  private void getsInThoughTheSeatIsSilent(QuorumOptions options, long delay, boolean queues) {
    start(() -> 0, () -> 0, () -> 0);
    QuorumLocks locks = client(options, delay, delay, delay);
    for (int i = 1; i <= 12; i++) {
      servers.get(0).standsStill = i > 3;
      List<Standing> answers = tried(locks, claim(i, queues));
      if (i > 3) {
        assertThat(answers).hasSize(1).allMatch(Standing.Held.class::isInstance);
      }
    }
  }

  /** Answers take 160 ms, in which clocks pass floors that are 50 ms ahead. */
  @Test
  void whoTriesOnceGetsAFreeLockThoughFloorsWereInVain() {
    start(clock(0), clock(1_000), clock(2_000));
    long delay = 80_000 * MICRO;
    QuorumLocks locks = client(QuorumOptions.defaults(), delay, delay, delay);
    for (int i = 1; i <= 6; i++) {
      List<Standing> answers = tried(locks, claim(i, false));
      if (i > 3) {
        assertThat(answers).hasSize(1).allMatch(Standing.Held.class::isInstance);
      }
    }
  }

  /** As if many readers were granted larger tokens all the time, in another order at each node. */
  @Test
  void p6_someoneGetsIn_whoTriesOnceIsGrantedAFreeLockThoughEachNodeWasAskedInVainTooOften() {
    start(leaping(1_000), leaping(1_001), leaping(1_002));
    QuorumLocks locks = client(QuorumOptions.defaults(), 50 * MICRO, 50 * MICRO, 50 * MICRO);

    assertThat(tried(locks, claim(1, false))).hasSize(1).allMatch(Standing.Held.class::isInstance);
  }

  /** So many tokens a nanosecond, for 10 ms. */
  private LongSupplier leaping(long tokens) {
    long from = world.now();
    return () -> tokens * Math.min(world.now() - from, SECOND / 100);
  }

  /** Others have a node each; at 500 ms the engine would say that the store has not answered. */
  @Test
  void whoTriesOnceIsToldInTimeThatALockIsBusyThoughItHasItsSeat() {
    start(() -> 0, () -> 0, () -> 0);
    connected(1, 50 * MICRO).attempt(claim("second", 1), rung -> {});
    connected(2, 50 * MICRO).attempt(claim("third", 1), rung -> {});
    long delay = 22_000 * MICRO;
    QuorumLocks locks = client(QuorumOptions.defaults(), delay, delay, delay);
    List<Standing> answers = new ArrayList<>();

    locks.attempt(claim(1, false), answers::add).thenAccept(answers::add);
    world.run(SECOND / 2 - 1);

    assertThat(answers).containsExactly(Standing.GONE);
  }

  private List<Standing> tried(QuorumLocks locks, Claim claim) {
    List<Standing> answers = new ArrayList<>();
    locks.attempt(claim, answers::add).thenAccept(answers::add);
    world.run(SECOND / 2);
    locks.withdraw(claim);
    world.run(SECOND);
    return List.copyOf(answers);
  }

  private static Claim claim(int number, boolean queues) {
    return new Claim(
        SimulatedClient.LOCK,
        new ClaimId("client", number),
        Mode.EXCLUSIVE,
        Duration.ofSeconds(20),
        Duration.ZERO,
        queues,
        1,
        0,
        false,
        new Holder("host", 1, "thread", "", ""));
  }

  private void ask(QuorumLocks locks, Claim claim, List<Standing.Held> held) {
    locks
        .attempt(claim, rung -> held.add((Standing.Held) rung))
        .thenAccept(
            told -> {
              if (told instanceof Standing.Held now) {
                held.add(now);
              }
            });
    world.later(
        SECOND,
        () -> {
          if (held.isEmpty()) {
            ask(locks, claim, held);
          }
        });
  }

  private static Claim brief(int number) {
    return Claims.exclusive(SimulatedClient.LOCK, "client", number, Duration.ofSeconds(4));
  }

  private void grantAndEnd(SimulatedNode node, int times) {
    for (int i = 1; i <= times; i++) {
      Claim claim = claim("other", i);
      node.attempt(claim, rung -> {});
      node.withdraw(claim);
      world.run(100 * MICRO);
    }
  }
}
