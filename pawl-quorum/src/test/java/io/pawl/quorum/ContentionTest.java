package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Three clients that contend for one lock, in virtual time. */
class ContentionTest {

  private static final int CLIENTS = 3;
  private static final long SECOND = 1_000_000_000L;
  private static final long HOLD = 100_000;
  private static final long TOKENS_OF_A_SECOND = 2_000_000;

  private static final QuorumOptions LENIENT =
      QuorumOptions.defaults().nodeTimeout(Duration.ofSeconds(5));

  private final World world = new World();
  private final Random random = new Random(7);
  private final SimulatedClient.Witness witness = new SimulatedClient.Witness();
  private final List<SimulatedNode.Server> servers = new ArrayList<>();
  private final List<SimulatedClient> clients = new ArrayList<>();

  /** Tokens are two a microsecond of clocks that differ by a millisecond each, or counted. */
  private void start(int nodes, boolean clocks) {
    for (int i = 0; i < nodes; i++) {
      long ahead = i * 1_000L;
      servers.add(
          new SimulatedNode.Server(
              world, "node " + i, () -> clocks ? 2 * (world.epochMicros() + ahead) : 0));
    }
  }

  private interface Delays {
    long of(int node);
  }

  private void connect(Delays delays) {
    connect(CLIENTS, delays);
  }

  private void connect(int count, Delays delays) {
    connect(count, QuorumOptions.defaults(), delays);
  }

  private void connect(int count, QuorumOptions options, Delays delays) {
    connect(count, options, Duration.ofSeconds(20), delays);
  }

  private void connect(int count, QuorumOptions options, Duration lease, Delays delays) {
    for (int number = 0; number < count; number++) {
      int c = clients.size();
      List<SimulatedNode> stores = new ArrayList<>();
      for (int i = 0; i < servers.size(); i++) {
        int node = i;
        LongSupplier delay = () -> delays.of(node);
        stores.add(new SimulatedNode(world, servers.get(i), delay));
      }
      SimulatedClient client =
          new SimulatedClient(world, stores, witness, "client" + c, lease, HOLD, options, c);
      clients.add(client);
      client.next();
    }
  }

  /** 50 to 150 µs. */
  private long usual() {
    return 50_000 + random.nextInt(100_000);
  }

  private long givenBack() {
    return clients.stream().mapToLong(c -> c.locks().figures().get("nodes.yielded")).sum();
  }

  private double requestsPerGrant() {
    double requests = servers.stream().mapToInt(server -> server.requests).sum();
    return requests / witness.waits.size();
  }

  private void assertServedInTurn() {
    assertThat(witness.wrongs).isEmpty();
    assertThat(witness.waits).hasSizeGreaterThan(1_000);
    assertThat(witness.percentile(0.99)).isLessThan(4_000_000);
  }

  /** Each grant costs a place in one line, a trip to all nodes, and a withdrawal at all. */
  @ParameterizedTest
  @CsvSource({"3, true", "3, false", "5, true", "5, false"})
  void whoContendsIsServedInTurnAndWastesNoRound(int nodes, boolean clocks) {
    start(nodes, clocks);
    connect(node -> usual());
    world.run(2 * SECOND);
    assertServedInTurn();
    assertThat(givenBack()).isLessThanOrEqualTo(2L * nodes * CLIENTS);
    assertThat(requestsPerGrant()).isLessThan(2 * nodes + 1.5);
  }

  /** One of them is where the line for this lock stands. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4})
  void aNodeThatIsHalfASecondLateDelaysNobody(int late) {
    start(5, true);
    connect(node -> node == late ? SECOND / 2 : usual());
    world.run(3 * SECOND);
    witness.waits.clear();
    world.run(3 * SECOND);
    assertServedInTurn();
  }

  /**
   * Messages take longer than the lead of a floor over the latest clock: floors are in vain, and
   * answers come one by one. Where each answer by itself raised the floor for the node that gave it
   * alone, no two nodes would ever be asked for the same tokens.
   */
  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void p6_someoneGetsIn_thoughAnswersComeOneByOneAndLate(int nodes) {
    start(nodes, true);
    connect(node -> 20_000_000 + random.nextInt(100_000_000));
    assertServed(10, 20, 5);
    assertThat(requestsPerGrant()).isLessThan(8 * nodes);
  }

  /** Whoever gave back what it had before others could have answered would never have them. */
  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void p6_someoneGetsIn_thoughNodesTakeLongerToAnswerThanThePausesLast(int nodes) {
    start(nodes, true);
    connect(CLIENTS, LENIENT, node -> 600_000_000 + random.nextInt(10_000_000));
    assertServedAllTheTime();
  }

  /**
   * Who waits elsewhere hears from seats that are near: usual answers do not tell how late others
   * are.
   */
  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void p6_someoneGetsIn_thoughEachClientIsFarFromAllNodesButOne(int nodes) {
    start(nodes, true);
    for (int i = 0; i < nodes; i++) {
      int near = i;
      connect(
          1, LENIENT, node -> node == near ? usual() : 600_000_000 + random.nextInt(10_000_000));
    }
    clients.forEach(this::hearsOftenAndSoon);
    assertServedAllTheTime();
  }

  /** What a node that is away does not answer is no answer that comes soon. */
  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void p6_someoneGetsIn_thoughAMinorityIsAwayAndOnlyOneOfTheRestIsNear(int nodes) {
    start(nodes, true);
    int seat = Math.floorMod(SimulatedClient.LOCK.hashCode(), nodes);
    for (int i = 0; i < nodes / 2; i++) {
      servers.get((seat + i) % nodes).away = true;
    }
    int near = (seat + nodes - 1) % nodes;
    connect(
        CLIENTS,
        LENIENT,
        node -> node == near ? usual() : 600_000_000 + random.nextInt(10_000_000));
    assertServedAllTheTime();
  }

  /**
   * Two lines, of several claims each: who has come to the head of one is behind all of the other.
   */
  @ParameterizedTest
  @CsvSource({"3, 10", "3, 30", "5, 10", "5, 30"})
  void p6_someoneGetsIn_thoughTheFirstNodeIsAwayAndNoneIsPrompt(int nodes, int count) {
    start(nodes, true);
    servers.get(Math.floorMod(SimulatedClient.LOCK.hashCode(), nodes)).away = true;
    for (int c = 0; c < count; c++) {
      int near = c % nodes;
      connect(
          1,
          QuorumOptions.defaults(),
          node -> node == near ? usual() : 60_000_000 + random.nextInt(1_000_000));
    }
    assertServedAllTheTime();
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void linesBecomeOneThoughTheFirstNodeIsAwayAndNoneIsPrompt(int nodes) {
    start(nodes, true);
    servers.get(Math.floorMod(SimulatedClient.LOCK.hashCode(), nodes)).away = true;
    connect(50, node -> 75_000_000 + random.nextInt(5_000_000));
    world.run(60 * SECOND);
    witness.waits.clear();
    world.run(60 * SECOND);
    assertThat(witness.waits).hasSizeGreaterThan(30);
    assertThat(witness.wrongs).isEmpty();
  }

  /** A turn lasts for as long as those in the other line take to give way, one after another. */
  @Test
  void p6_someoneGetsIn_thoughTheFirstNodeIsAwayAndOthersTakeLongToGiveWay() {
    start(3, true);
    int first = Math.floorMod(SimulatedClient.LOCK.hashCode(), 3);
    servers.get(first).away = true;
    QuorumOptions options = QuorumOptions.defaults().nodeTimeout(Duration.ofSeconds(10));
    for (int c = 0; c < 40; c++) {
      int near = (first + 1 + c % 2) % 3;
      connect(
          1, options, node -> node == near ? usual() : 800_000_000 + random.nextInt(10_000_000));
    }
    assertServed(4, 400, 0);
  }

  /**
   * Each holds the first node that is left, as it sees it: half of them do not reach the second.
   */
  @Test
  void p6_someoneGetsIn_thoughClientsDifferOnWhichNodesAreAway() {
    start(5, true);
    int first = Math.floorMod(SimulatedClient.LOCK.hashCode(), 5);
    int second = (first + 1) % 5;
    servers.get(first).away = true;
    for (int c = 0; c < 4; c++) {
      boolean cutOff = c % 2 == 1;
      connect(
          1,
          node ->
              cutOff && node == second
                  ? 1_000_000 * SECOND
                  : 15_000_000 + random.nextInt(5_000_000));
    }
    assertServed(4, 120, 0);
  }

  /** Answers take longer than half of what they are waited for. */
  @ParameterizedTest
  @CsvSource({"3, 1", "3, 3", "3, 10", "5, 1", "5, 10"})
  void p6_someoneGetsIn_thoughNodesTakeNearlyAsLongAsTheyAreWaitedFor(int nodes, int count) {
    start(nodes, true);
    connect(count, QuorumOptions.defaults(), node -> 160_000_000 + random.nextInt(5_000_000));
    assertServedAllTheTime();
  }

  /** Each hears an answer that came in time an hour later, and is far from all nodes but one. */
  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void p6_someoneGetsIn_thoughClientsStoodStillForAnHourBeforeTheyHeardAnAnswer(int nodes) {
    start(nodes, true);
    AtomicBoolean far = new AtomicBoolean();
    for (int i = 0; i < nodes; i++) {
      int near = i;
      connect(
          1,
          QuorumOptions.defaults(),
          node ->
              !far.get()
                  ? 100_000
                  : node == near ? usual() : 60_000_000 + random.nextInt(1_000_000));
    }
    world.run(150_000);
    world.standStill(3_600 * SECOND);
    world.run(1_000_000);
    far.set(true);
    assertServedAllTheTime();
  }

  /** What is prompt for long leases is late for short ones: else seats change at each request. */
  @ParameterizedTest
  @CsvSource({"3, 500", "3, 10000", "5, 500", "5, 10000"})
  void p6_someoneGetsIn_thoughALeaseIsShortBesideTheNodeTimeout(int nodes, int timeoutMillis) {
    start(nodes, true);
    QuorumOptions options = QuorumOptions.defaults().nodeTimeout(Duration.ofMillis(timeoutMillis));
    connect(
        CLIENTS, options, Duration.ofMillis(100), node -> 20_000_000 + random.nextInt(2_000_000));
    world.run(2 * SECOND);
    assertServed(10, 4, 15);
  }

  private void hearsOftenAndSoon(SimulatedClient client) {
    client.locks().answeredAfter(usual());
    world.later(SECOND / 10, () -> hearsOftenAndSoon(client));
  }

  private void assertServedAllTheTime() {
    assertServed(10, 120, 5);
  }

  /** In each of {@code windows} of {@code seconds} there are more grants than {@code few}. */
  private void assertServed(int windows, int seconds, int few) {
    for (int i = 0; i < windows; i++) {
      int before = witness.waits.size();
      world.run(seconds * SECOND);
      assertThat(witness.waits).hasSizeGreaterThan(before + few);
    }
    assertThat(witness.wrongs).isEmpty();
  }

  /** A majority can be asked, and one of it refuses: the others raised their tokens for nothing. */
  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void tokensDoNotRunAheadOfTheClocksForANodeThatRefusesWhatItHasGranted(int nodes) {
    start(nodes, true);
    int minority = (nodes - 1) / 2;
    servers.subList(0, minority).forEach(server -> server.away = true);
    connect(1, node -> usual());
    SimulatedNode.Server seat = null;
    while (seat == null) {
      world.run(10_000);
      seat =
          servers.stream().filter(each -> each.isHeld(SimulatedClient.LOCK)).findAny().orElse(null);
    }
    seat.away = true;

    world.run(2 * SECOND);
    assertThat(witness.waits).isEmpty();
    servers.forEach(server -> server.away = false);
    world.run(2 * SECOND);

    assertThat(witness.waits).isNotEmpty();
    assertThat(witness.lastToken() - 2 * world.epochMicros()).isLessThan(TOKENS_OF_A_SECOND);
    assertThat(witness.wrongs).isEmpty();
  }
}
