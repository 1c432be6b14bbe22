package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which tokens of a hold are shown and taken, where its nodes have different ones. */
class QuorumInspectionTest {

  /** Its line is at node 0, whose answers are never held back. */
  private static final String LOCK = "told";

  private static final AtomicLong numbers = new AtomicLong();

  private final List<MemoryStore> servers =
      List.of(new MemoryStore(), new MemoryStore(), new MemoryStore());
  private final List<MemoryNode> nodes = List.of(node(0), node(1), node(2));
  private final QuorumStore quorum = QuorumStore.over(nodes, QuorumOptions.defaults());

  private MemoryNode node(int number) {
    return new MemoryNode(servers.get(number), "memory " + number);
  }

  @AfterEach
  void close() {
    quorum.close();
  }

  private static Claim claim() {
    return claim(LOCK);
  }

  private static Claim claim(String lock) {
    return new Claim(
        lock,
        new ClaimId("inspection", numbers.incrementAndGet()),
        Mode.EXCLUSIVE,
        Duration.ofSeconds(30),
        Duration.ZERO,
        true,
        1,
        0,
        false,
        new Holder("host", 1, "thread", "", ""));
  }

  private static <T> T answer(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  /** The node's next token is one larger than {@code last}. */
  private void hasGranted(int node, int last) throws Exception {
    LockStore server = servers.get(node);
    for (int i = 0; i < last; i++) {
      Claim claim = claim();
      answer(server.attempt(claim, standing -> {}));
      answer(server.withdraw(claim));
    }
  }

  private CompletableFuture<Standing> attempt(Claim claim) {
    return quorum.attempt(claim, standing -> {}).toCompletableFuture();
  }

  private static long token(Standing standing) {
    return ((Standing.Held) standing).token();
  }

  private long shown() throws Exception {
    List<ClaimView> holders = answer(quorum.show(LOCK)).orElseThrow().holders();
    assertThat(holders).hasSize(1);
    return holders.get(0).token();
  }

  private static List<Long> holders(LockView view) {
    return view.holders().stream().map(ClaimView::token).toList();
  }

  private long tokenAt(int node) throws Exception {
    return answer(servers.get(node).show(LOCK)).orElseThrow().holders().get(0).token();
  }

  private boolean isHeldAt(int node) throws Exception {
    return !answer(servers.get(node).show(LOCK)).orElseThrow().holders().isEmpty();
  }

  /**
   * Nodes 0 and 1 answer 5 and 9, and are asked for tokens above 9. Then node 2 answers 9 as well:
   * but node 1 has 10 by now, though its answer is not here yet.
   */
  @Test
  void aHoldIsShownUnderItsHoldersTokenThoughANodeWasLateWithItsVote() throws Exception {
    hasGranted(0, 4);
    hasGranted(1, 8);
    hasGranted(2, 8);
    nodes.get(0).holdBackAnswersTo(claim -> claim.tokenFloor() > 0);
    nodes.get(1).holdBackAnswersTo(claim -> claim.tokenFloor() > 0);
    nodes.get(2).holdBackAnswersTo(claim -> true);
    CompletableFuture<Standing> granted = attempt(claim());

    nodes.get(2).letAnswersGo();
    nodes.get(0).letAnswersGo();

    long token = token(answer(granted)); // node 1 is not waited for
    nodes.get(1).letAnswersGo();
    assertThat(shown()).isEqualTo(token);
  }

  /** Nodes have granted 5, 9 and 13, and are asked for tokens above 13. */
  @Test
  void aHolderIsShownUnderTheTokenThatItWillBeTold() throws Exception {
    hasGranted(0, 4);
    hasGranted(1, 8);
    hasGranted(2, 12);
    nodes.forEach(node -> node.holdBackAttempts(claim -> claim.tokenFloor() > 0));
    CompletableFuture<Standing> granted = attempt(claim());

    CompletableFuture<Optional<LockView>> shown = quorum.show(LOCK).toCompletableFuture();
    CompletableFuture<List<LockView>> listed = quorum.list(10).toCompletableFuture();
    nodes.forEach(MemoryNode::letAttemptsGo);

    long token = token(answer(granted));
    assertThat(holders(answer(shown).orElseThrow())).containsExactly(token);
    assertThat(answer(listed))
        .hasSize(1)
        .allSatisfy(view -> assertThat(holders(view)).containsExactly(token));
  }

  @Test
  void aShortListHasWhatIsHeldThoughNodesHaveManyNamesOfTheirOwn() throws Exception {
    answer(attempt(claim()));
    for (int i = 0; i < 20; i++) {
      answer(servers.get(0).attempt(claim("a" + i), standing -> {}));
      answer(servers.get(1).attempt(claim("b" + i), standing -> {}));
    }

    assertThat(answer(quorum.list(1))).extracting(LockView::name).containsExactly(LOCK);
  }

  @Test
  void aListWithoutEndHasWhatIsHeld() throws Exception {
    answer(attempt(claim()));

    assertThat(answer(quorum.list(Integer.MAX_VALUE))).extracting(LockView::name).contains(LOCK);
  }

  @Test
  void p8_nothingLeftBehind_whoAskedIsAnsweredWhenTheStoreIsClosed() throws Exception {
    nodes.forEach(node -> node.holdBackAnswersTo(claim -> true));
    CompletableFuture<Standing> asked = attempt(claim());

    quorum.close();

    assertThatThrownBy(() -> answer(asked)).hasCauseInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void evictTakesNoTokenBeyondTheHoldersOfANodeThatWasBehind() throws Exception {
    hasGranted(0, 4);
    hasGranted(1, 4);
    nodes.get(2).holdBackAnswersTo(claim -> true);
    long token = token(answer(attempt(claim())));
    nodes.get(2).letAnswersGo();
    assertThat(tokenAt(2)).isEqualTo(token + 1);

    assertThat(answer(quorum.evict(LOCK, token + 1))).isFalse();
    assertThat(shown()).isEqualTo(token);
    assertThat(answer(quorum.evict(LOCK, token))).isTrue();
    assertThat(isHeldAt(0) || isHeldAt(1) || isHeldAt(2)).isFalse();
  }

  @Test
  void evictTakesTheHoldersTokenThoughNodesThatLostTheHoldHaveLargerOnes() throws Exception {
    Claim claim = claim();
    long token = token(answer(attempt(claim)));
    for (int lost : new int[] {0, 2}) {
      answer(servers.get(lost).evict(LOCK, tokenAt(lost)));
      assertThat(isHeldAt(lost)).isFalse();
      for (int i = 0; i < 2; i++) {
        Standing standing = answer(quorum.renew(List.of(claim))).get(claim.id());
        assertThat(token(standing)).isEqualTo(token);
      }
      assertThat(tokenAt(lost)).isGreaterThan(token);
    }
    assertThat(shown()).isGreaterThan(token);

    assertThat(answer(quorum.evict(LOCK, token))).isTrue();

    assertThat(isHeldAt(0) || isHeldAt(1) || isHeldAt(2)).isFalse();
    assertThat(answer(quorum.renew(List.of(claim)))).containsEntry(claim.id(), Standing.GONE);
  }

  /** No node grants what another does, until all have been asked as often as may be. */
  @Test
  void p6_someoneGetsIn_thoughNodesDisagreedOnTokensForLong() {
    for (int i = 0; i < 3; i++) {
      nodes.get(i).isAheadBy(1_000 * i);
    }
    Claim claim = claim();
    attempt(claim);
    nodes.forEach(node -> node.isAheadBy(0));

    await()
        .until(() -> answer(quorum.renew(List.of(claim))).get(claim.id()) instanceof Standing.Held);
  }

  @Test
  void anInterruptedThreadOpensAQuorumOfNodesThatTakeTheirTime() throws Exception {
    nodes.get(0).holdBackAnswersTo(claim -> true);
    Thread.currentThread().interrupt();
    QuorumStore other = QuorumStore.over(nodes, QuorumOptions.defaults());
    assertThat(Thread.interrupted()).isTrue();
    other.close();
  }

  @Test
  void whoHoldsAMinorityAloneIsNoHolder() throws Exception {
    Claim stray = claim();
    answer(nodes.get(0).attempt(stray, standing -> {}));

    assertThat(answer(quorum.show(LOCK))).isEmpty();
    assertThat(answer(quorum.evict(LOCK, tokenAt(0)))).isFalse();
    assertThat(isHeldAt(0)).isTrue();
  }

  /** Whoever calls the doctor has a node that is ill, and wants to know which. */
  @Test
  void aNodeThatCannotBeExaminedIsNamedAndHidesNoOther() {
    nodes.get(1).cannotBeExamined();

    List<Finding> findings = quorum.diagnose();

    assertThat(findings)
        .contains(
            new Finding(Level.OK, "node 1: in memory", ""),
            new Finding(Level.OK, "node 3: in memory", ""))
        .anySatisfy(
            finding -> {
              assertThat(finding.level()).isEqualTo(Level.WARNING);
              assertThat(finding.what()).startsWith("node 2: ").contains("too many clients");
            });
  }

  /** Whoever shows that it is there has to be seen there after all nodes were waited for. */
  @Test
  void aServerNamedTwiceIsRefusedThoughAnotherNodeIsWaitedForForLong() {
    MemoryStore shared = new MemoryStore();
    MemoryNode late = node(2);
    late.holdBackAnswersTo(claim -> true);
    List<MemoryNode> named =
        List.of(new MemoryNode(shared, "one"), new MemoryNode(shared, "two"), late);
    QuorumOptions patient = QuorumOptions.defaults().nodeTimeout(Duration.ofMillis(1_200));

    assertThatThrownBy(() -> QuorumStore.over(named, patient))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("one and two are the same server");
  }
}
