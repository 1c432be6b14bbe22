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
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a hold at nodes that end it, come back, or do not hear of its downgrade. */
class HoldTest {

  private static final String LOCK = "downgraded";
  private static final long SECOND = 1_000_000_000L;

  private final World world = new World();
  private final List<SimulatedNode.Server> servers = new ArrayList<>();
  private QuorumLocks locks;
  private int claims;

  private final Claim writer = claim(Mode.EXCLUSIVE);

  @BeforeEach
  void open() {
    start(world::epochMicros);
  }

  private void start(LongSupplier clockTokens) {
    servers.clear();
    for (int i = 0; i < 3; i++) {
      servers.add(new SimulatedNode.Server(world, "node " + i, clockTokens));
    }
    locks = client();
    assertThat(attempt(writer)).isInstanceOf(Standing.Held.class);
  }

  private QuorumLocks client() {
    return clientThatFindsSlow(-1);
  }

  private QuorumLocks clientThatFindsSlow(int slow) {
    List<Node> nodes = new ArrayList<>();
    for (SimulatedNode.Server server : servers) {
      SimulatedNode store = new SimulatedNode(world, server, () -> 100_000);
      Node node = new Node("node", () -> store, world.time(), new Lanes("test"));
      node.open();
      if (nodes.size() == slow) {
        node.isSlow();
      }
      nodes.add(node);
    }
    return new QuorumLocks(nodes, QuorumOptions.defaults(), world.time(), new Random(1));
  }

  private Claim claim(Mode mode) {
    return claim(LOCK, mode, Duration.ofSeconds(20));
  }

  private Claim claim(String lock, Mode mode, Duration lease) {
    return claim(lock, mode, lease, Duration.ZERO);
  }

  private Claim claim(String lock, Mode mode, Duration lease, Duration minHold) {
    return new Claim(
        lock,
        new ClaimId("client", ++claims),
        mode,
        lease,
        minHold,
        true,
        64,
        0,
        false,
        new Holder("host", 1, "thread", "", ""));
  }

  private Standing attempt(Claim claim) {
    return answer(locks.attempt(claim, rung -> {}));
  }

  private Standing renew(Claim claim) {
    return renew(locks, claim);
  }

  private Standing renew(QuorumLocks locks, Claim claim) {
    return answer(locks.renew(List.of(claim)).thenApply(told -> told.get(claim.id())));
  }

  private <T> T answer(CompletionStage<T> stage) {
    world.run(SECOND);
    CompletableFuture<T> answer = stage.toCompletableFuture();
    assertThat(answer).isDone();
    return answer.join();
  }

  @Test
  void p2_tokensOnlyGrow_aDowngradeDoesNotReviveAHoldThatAnOperatorEnded() {
    servers.forEach(server -> server.forget(LOCK));
    Claim next = claim(Mode.EXCLUSIVE);
    assertThat(attempt(next)).isInstanceOf(Standing.Held.class);
    answer(locks.withdraw(next));

    assertThat(attempt(writer.as(Mode.SHARED))).isEqualTo(Standing.GONE);
    world.run(SECOND);
    assertThat(servers).noneMatch(server -> server.isHeld(LOCK));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void p2_tokensOnlyGrow_aBellBeforeTheAnswerDoesNotReviveAHoldThatWasEnded(int nodes) {
    servers.subList(0, nodes).forEach(server -> server.forget(LOCK));
    Claim next = claim(Mode.EXCLUSIVE);
    assertThat(attempt(next)).isInstanceOf(Standing.Held.class);

    servers.forEach(server -> server.answersAreLater = () -> SECOND / 10);
    CompletionStage<Standing> downgrade = locks.attempt(writer.as(Mode.SHARED), rung -> {});
    world.run(SECOND / 100);
    locks.withdraw(next);

    assertThat(answer(downgrade)).isEqualTo(Standing.GONE);
    world.run(SECOND);
    assertThat(servers.subList(0, nodes)).noneMatch(server -> server.isHeld(LOCK));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aDowngradeThatANodeDidNotHearIsToldThereByTheNextRenewal(int node) {
    servers.get(node).away = true;
    assertThat(attempt(writer.as(Mode.SHARED))).isInstanceOf(Standing.Held.class);
    servers.get(node).away = false;

    assertThat(renew(writer)).isInstanceOf(Standing.Held.class);
    Claim reader = claim(Mode.SHARED);
    assertThat(answer(client().attempt(reader, rung -> {}))).isInstanceOf(Standing.Held.class);
    int told = servers.get(node).requests;
    Map<ClaimId, Standing> twice = answer(locks.renew(List.of(writer)));
    assertThat(twice.get(writer.id())).isInstanceOf(Standing.Held.class);
    assertThat(servers.get(node).requests).isEqualTo(told + 1);
  }

  @Test
  void p2_tokensOnlyGrow_aRenewalDoesNotReviveAHoldAtANodeThatHasOnceLeftAnAttemptUnanswered() {
    answer(locks.withdraw(writer));
    servers.get(0).away = true;
    Claim held = claim(Mode.EXCLUSIVE);
    assertThat(attempt(held)).isInstanceOf(Standing.Held.class);
    servers.get(0).away = false;
    assertThat(renew(held)).isInstanceOf(Standing.Held.class);

    isEndedAtTwoNodesAndHeldByAnother(held, LOCK);

    assertThat(renew(held)).isEqualTo(Standing.GONE);
  }

  /** Its client hears of it from node 0 alone. */
  private void isEndedAtTwoNodesAndHeldByAnother(Claim held, String lock) {
    servers.subList(0, 2).forEach(server -> server.forget(lock));
    servers.get(1).away = true;
    locks.renew(List.of(held));
    world.run(SECOND);
    servers.get(1).away = false;
    Claim next = claim(lock, Mode.EXCLUSIVE, Duration.ofSeconds(20));
    QuorumLocks other = client();
    assertThat(answer(other.attempt(next, rung -> {}))).isInstanceOf(Standing.Held.class);
    answer(other.withdraw(next));
  }

  @Test
  void p2_tokensOnlyGrow_aLateAnswerDoesNotReviveAHoldThatItsNodeHasEndedSince() {
    servers.get(0).answersAreLater = () -> 8 * SECOND;
    assertThat(renew(writer)).isInstanceOf(Standing.Held.class);
    servers.get(0).answersAreLater = () -> 0;

    isEndedAtTwoNodesAndHeldByAnother(writer, LOCK);
    world.run(8 * SECOND);

    assertThat(renew(writer)).isEqualTo(Standing.GONE);
  }

  /** Node 0 lets it in after the others, where it stood behind a claim that had no majority. */
  @Test
  void p2_tokensOnlyGrow_aLateBellDoesNotReviveAHoldThatItsNodeHasEndedSince() {
    String lock = "seated at node 1";
    assertThat(Math.floorMod(lock.hashCode(), servers.size())).isEqualTo(1);
    SimulatedNode node = new SimulatedNode(world, servers.get(0), () -> 100_000);
    Claim before = claim(lock, Mode.EXCLUSIVE, Duration.ofSeconds(20));
    assertThat(answer(node.attempt(before, rung -> {}))).isInstanceOf(Standing.Held.class);
    Claim held = claim(lock, Mode.EXCLUSIVE, Duration.ofSeconds(20));
    assertThat(attempt(held)).isInstanceOf(Standing.Held.class);
    assertThat(renew(held)).isInstanceOf(Standing.Held.class);
    servers.get(0).bellsAreLater = () -> 8 * SECOND;
    answer(node.withdraw(before));

    isEndedAtTwoNodesAndHeldByAnother(held, lock);
    world.run(8 * SECOND);

    assertThat(renew(held)).isEqualTo(Standing.GONE);
  }

  /** An attempt has told of its turn at node 0; the bell comes between a renewal and its answer. */
  @Test
  void p1_oneHolder_aLateBellConfirmsNoHoldThatItsNodeHasEndedSince() {
    start(() -> 0);
    Claim held = isGrantedBeforeItsBellRings(25 * SECOND);
    servers.get(0).away = true;
    for (int i = 0; i < 3; i++) {
      assertThat(renew(held)).isInstanceOf(Standing.Held.class);
      world.run(6 * SECOND);
    }
    servers.get(0).away = false;
    servers.get(2).away = true;
    servers.get(0).answersAreLater = () -> SECOND / 5;
    world.run(SECOND * 19 / 10);

    CompletionStage<Map<ClaimId, Standing>> renewed = locks.renew(List.of(held));
    world.run(SECOND);

    assertThat(servers.get(0).isHeld(LOCK)).isFalse();
    assertThat(renewed.toCompletableFuture()).isCompletedExceptionally();
  }

  /** Node 0 was asked for larger tokens meanwhile. */
  @Test
  void p2_tokensOnlyGrow_aLateBellOfEarlierTokensDoesNotReviveAHoldThatItsNodeHasEndedSince() {
    Claim held = isGrantedBeforeItsBellRings(4 * SECOND);
    servers.subList(0, 2).forEach(server -> server.forget(LOCK));
    Claim next = claim(Mode.EXCLUSIVE);
    QuorumLocks other = client();
    assertThat(answer(other.attempt(next, rung -> {}))).isInstanceOf(Standing.Held.class);
    answer(other.withdraw(next));

    world.run(SECOND);

    assertThat(renew(held)).isEqualTo(Standing.GONE);
  }

  private Claim isGrantedBeforeItsBellRings(long nanos) {
    servers.get(0).bellsAreLater = () -> nanos;
    Claim next = claim(Mode.EXCLUSIVE);
    assertThat(attempt(next)).isInstanceOf(Standing.Waiting.class);
    answer(locks.withdraw(writer));
    assertThat(attempt(next)).isInstanceOf(Standing.Held.class);
    return next;
  }

  /** Two nodes have once left an attempt unanswered, and a renewal is answered after the end. */
  @Test
  void theShortestHoldLastsThoughTheHoldEndsWhileItIsRenewed() {
    answer(locks.withdraw(writer));
    Duration shortest = Duration.ofSeconds(30);
    Claim job = claim(LOCK, Mode.EXCLUSIVE, Duration.ofSeconds(20), shortest);
    servers.subList(0, 2).forEach(server -> server.away = true);
    locks.attempt(job, rung -> {});
    world.run(SECOND);
    servers.subList(0, 2).forEach(server -> server.away = false);
    assertThat(attempt(job)).isInstanceOf(Standing.Held.class);

    locks.renew(List.of(job));
    answer(locks.withdraw(job));

    QuorumLocks other = client();
    Claim next = claim(Mode.EXCLUSIVE);
    assertThat(answer(other.attempt(next, rung -> {}))).isInstanceOf(Standing.Waiting.class);
    world.run(15 * SECOND);
    assertThat(renew(other, next)).isInstanceOf(Standing.Waiting.class);
    world.run(15 * SECOND);
    assertThat(renew(other, next)).isInstanceOf(Standing.Held.class);
  }

  /** It stood in line at a node that was started from its file, and so votes a while later. */
  @Test
  void p5_aMinorityIsStood_byAHoldForWhichItsFirstNodeDidNotVoteAtOnce() {
    int seat = Math.floorMod(LOCK.hashCode(), servers.size());
    QuorumLocks other = client();
    Claim next = claim(Mode.EXCLUSIVE);
    List<Standing> rung = new ArrayList<>();
    assertThat(answer(other.attempt(next, rung::add))).isInstanceOf(Standing.Waiting.class);

    servers.get(seat).abstains = true;
    answer(locks.withdraw(writer));
    assertThat(rung).hasSize(1);
    servers.get(seat).abstains = false;
    assertThat(renew(other, next)).isEqualTo(rung.get(0));

    servers.get((seat + 1) % servers.size()).away = true;
    assertThat(renew(other, next)).isEqualTo(rung.get(0));
  }

  /** Of one hold another client has node 0, so that it needs node 2, which says nothing. */
  @Test
  void p5_lossIsTold_noHoldIsLostForWantOfAnAnswerAboutAnother() {
    servers.get(0).forget(LOCK);
    SimulatedNode other = new SimulatedNode(world, servers.get(0), () -> 100_000);
    assertThat(answer(other.attempt(claim(Mode.EXCLUSIVE), rung -> {})))
        .isInstanceOf(Standing.Held.class);
    assertThat(renew(writer)).isInstanceOf(Standing.Held.class);
    Claim brief = claim("brief", Mode.EXCLUSIVE, Duration.ofMillis(400));
    CompletionStage<Standing> granted = locks.attempt(brief, rung -> {});
    world.run(SECOND / 100);
    assertThat(granted.toCompletableFuture())
        .isCompletedWithValueMatching(Standing.Held.class::isInstance);
    assertThat(locks.renewGroup(writer)).isEqualTo(locks.renewGroup(brief));

    servers.get(2).answersAreLater = () -> 10 * SECOND;
    CompletableFuture<Map<ClaimId, Standing>> both =
        locks.renew(List.of(writer, brief)).toCompletableFuture();
    world.run(brief.lease().toNanos() * 2 / 3);

    assertThat(both).isDone();
    assertThat(both.join().get(brief.id())).isInstanceOf(Standing.Held.class);
    assertThat(locks.renewGroup(writer)).isNotEqualTo(locks.renewGroup(brief));
  }

  @Test
  void p1_oneHolder_whatIsLeftOfALostHoldIsGivenBackOnlyOnceItsHolderHasHeardOfTheLoss() {
    String lock = "kept by a minority";
    int first = Math.floorMod(lock.hashCode(), 3);
    SimulatedNode.Server rivals = servers.get((first + 1) % 3);
    Claim other = claim("other", Mode.EXCLUSIVE, Duration.ofSeconds(20));
    assertThat(attempt(other)).isInstanceOf(Standing.Held.class);
    Claim held = claim(lock, Mode.EXCLUSIVE, Duration.ofSeconds(20));
    rivals.away = true;
    assertThat(attempt(held)).isInstanceOf(Standing.Held.class);
    rivals.away = false;

    AtomicBoolean rivalHolds = new AtomicBoolean();
    Claim rival = claim(lock, Mode.EXCLUSIVE, Duration.ofSeconds(20));
    clientThatFindsSlow(first)
        .attempt(rival, rung -> rivalHolds.set(true))
        .thenAccept(told -> rivalHolds.compareAndSet(false, told instanceof Standing.Held));
    world.run(SECOND / 500);
    servers.get((first + 2) % 3).forget(lock);
    servers.get(first).answersAreLater = () -> SECOND / 5;
    rivals.answersAreLater = () -> SECOND / 5;
    CompletionStage<Map<ClaimId, Standing>> renewal = locks.renew(List.of(other, held));
    world.run(SECOND / 5_000); // as long as the nodes need to read it
    servers.forEach(server -> server.answersAreLater = () -> 0);
    world.run(SECOND / 10);

    assertThat(renewal.toCompletableFuture()).isNotDone();
    assertThat(rivalHolds).isFalse();
    assertThat(answer(renewal)).containsEntry(held.id(), Standing.GONE);
    answer(locks.withdraw(held));
    assertThat(servers).noneMatch(server -> server.isHeldBy(lock, held));
  }

  @Test
  void p5_lossIsTold_aHoldThatIsLostIsGivenBackByItsOwner() {
    servers.subList(1, 3).forEach(server -> server.forget(LOCK));

    assertThat(renew(writer)).isEqualTo(Standing.GONE);
    assertThat(servers.get(0).isHeld(LOCK)).isTrue();
    answer(locks.withdraw(writer));
    assertThat(servers).noneMatch(server -> server.isHeld(LOCK));
  }
}
