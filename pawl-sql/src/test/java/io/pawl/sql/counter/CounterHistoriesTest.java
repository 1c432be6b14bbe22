package io.pawl.sql.counter;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Operation;
import io.pawl.spi.rule.CounterRule;
import io.pawl.spi.rule.CounterState;
import io.pawl.sql.TestDatabase;
import io.pawl.sql.counter.PendingOperation.Change;
import io.pawl.sql.counter.PendingOperation.Look;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.transaction.Session;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two clients of a database and the {@link CounterRule} go through the same random histories, and
 * agree on every answer, row and line, whatever was batched, guessed, looked up or pruned.
 */
class CounterHistoriesTest {

  private static final int STEPS = 500;
  private static final int PAGE = 200;
  private static final long HOUR = 3_600_000;
  private static final List<Operation> RESOLVING =
      List.of(Operation.CLOSE, Operation.CANCEL, Operation.CONFIRM, Operation.CONFIRM);

  private final Map<String, CounterState> models = new HashMap<>();
  private final long started = System.currentTimeMillis();
  private final String prefix = "history-" + System.nanoTime() + "-";
  private final String hot = prefix + "hot";
  private Random random = new Random();
  private Database database;
  private CounterCombiner client;
  private int newest;

  @ParameterizedTest
  @CsvSource({"SQLITE,1", "SQLITE,2", "POSTGRES,2", "POSTGRES,19"})
  void p7_conservation_theDatabaseDecidesAsTheCounterRuleDoes(TestDatabase server, long seed)
      throws Exception {
    random = new Random(seed);
    database = server.prepared();
    try (CounterCombiner here = new CounterCombiner(database, "pawl-test-here");
        CounterCombiner there = new CounterCombiner(database, "pawl-test-there")) {
      for (int i = 0; i < STEPS; i++) {
        client = random.nextInt(8) > 0 ? here : there;
        int dice = random.nextInt(100);
        if (dice < 4) {
          prune(dice == 0 ? hot : anyName());
        } else {
          int size = 1 + random.nextInt(random.nextBoolean() ? 3 : 20);
          Supplier<CounterRequest> next = dice < 40 ? this::hot : this::any;
          apply(Stream.generate(next).limit(size).toList(), "step " + i);
        }
      }
    }
  }

  /** Else the other, which is known though nobody has looked for it, counts as never entered. */
  @Test
  void aBasketIsToldOfBothItsPartsThoughOneIsEnteredInItsOwnBatch() throws Exception {
    database = TestDatabase.POSTGRES.prepared();
    Operation add = new Operation.Add(1);
    try (CounterCombiner only = new CounterCombiner(database, "pawl-test-only")) {
      client = only;
      apply(List.of(CounterRequest.of(prefix + 0, "order", started, add, true)), "one part");
      TreeMap<String, Operation> both = new TreeMap<>(Map.of(prefix + 0, add, prefix + 1, add));
      apply(
          List.of(
              CounterRequest.of(prefix + 1, "order", started, add, true),
              new CounterRequest("order", started, both, true)),
          "the other, and both");
    }
  }

  /** About one counter that is soon guessed, since mostly one client changes it. */
  private CounterRequest hot() {
    boolean known = random.nextInt(100) == 0;
    Operation add = new Operation.Add(random.nextBoolean() ? 3 : -2);
    long issued = known ? anyTime() : started;
    return CounterRequest.of(hot, id(known), issued, add, known || random.nextBoolean());
  }

  private CounterRequest any() {
    boolean enters = random.nextInt(3) > 0;
    boolean known = random.nextInt(3) > 0;
    TreeMap<String, Operation> operations = new TreeMap<>();
    for (int n = random.nextInt(4) == 0 ? 1 + random.nextInt(3) : 1; n > 0; n--) {
      operations.put(anyName(), enters ? change() : RESOLVING.get(random.nextInt(4)));
    }
    return new CounterRequest(id(known), anyTime(), operations, known || random.nextBoolean());
  }

  private String id(boolean known) {
    return "id" + (known ? Math.max(0, newest - random.nextInt(15)) : ++newest);
  }

  private String anyName() {
    return prefix + random.nextInt(3);
  }

  private long anyTime() {
    return random.nextInt(10) == 0 ? 0 : started - (1 + random.nextInt(1000)) * HOUR;
  }

  private Operation change() {
    return switch (random.nextInt(8)) {
      case 0 -> new Operation.SetTo(random.nextInt(40));
      case 1 -> new Operation.CompareAndSet(model(anyName()).view().value(), random.nextInt(40));
      case 2 -> new Operation.SetBounds(random.nextInt(5) - 2, 30 + random.nextInt(30));
      case 3 -> new Operation.Reserve(1 + random.nextInt(9), 1000 * HOUR);
      default -> new Operation.Add(random.nextBoolean() ? 5 : -1 - random.nextInt(9));
    };
  }

  private void apply(List<CounterRequest> requests, String step) throws Exception {
    List<CounterAnswer> expected = requests.stream().map(this::decide).toList();
    List<Change> asked = requests.stream().map(Change::new).toList();
    together(asked);
    for (int i = 0; i < asked.size(); i++) {
      CounterAnswer found = asked.get(i).answer().get(60, SECONDS);
      assertThat(untimed(found)).as("%s of %s", step, requests).isEqualTo(untimed(expected.get(i)));
    }
    for (String name : models.keySet()) {
      agree(name, step);
    }
  }

  /** While another one is decided, so that they become the next batch. */
  private void together(List<Change> operations) {
    List<PendingOperation<?>> unsent = new ArrayList<>(operations);
    client.submit(
        new PendingOperation<Void>() {
          @Override
          public Set<String> names() {
            return Set.of(prefix + "together");
          }

          @Override
          public Void decide(Map<String, CounterState> states, long now) {
            unsent.forEach(client::submit);
            unsent.clear(); // the transaction may be repeated
            return null;
          }
        });
  }

  private CounterAnswer decide(CounterRequest request) {
    Map<String, CounterState> states = new HashMap<>();
    request.operations().keySet().forEach(name -> states.put(name, model(name)));
    return CounterRule.apply(states, request, started);
  }

  /** Ends with the page whose last line was entered at or after the limit: here with the first. */
  private void prune(String name) {
    CounterState model = model(name);
    List<LedgerEntry> lines = List.copyOf(model.entries());
    if (lines.isEmpty()) {
      return; // there may be no such counter
    }
    long before = started - random.nextInt(1000) * HOUR;
    int looksAt = Math.min(PAGE, lines.size());
    CounterState pruned = new CounterState(model.view(), lines.subList(0, looksAt));
    long expected = pruned.forget(before, started);
    lines.subList(looksAt, lines.size()).forEach(pruned::know);
    models.put(name, pruned);
    try (LedgerPruner pruner = new LedgerPruner(database, client)) {
      assertThat(pruner.prune(name, before)).isEqualTo(expected);
    }
  }

  private void agree(String name, String step) throws Exception {
    Optional<CounterView> view = client.submit(new Look(name)).get(60, SECONDS);
    CounterState model = model(name);
    assertThat(view.orElse(CounterView.unknown(name))).as(step).isEqualTo(model.view());
    if (random.nextInt(20) == 0) {
      try (Session session = new Session(database)) {
        assertThat(new CounterTables(database.dialect()).linesAfter(session, name, 0, 1_000_000))
            .as("ledger of %s after %s", name, step)
            .extracting(line -> untimed(line.entry()))
            .isEqualTo(model.entries().stream().map(CounterHistoriesTest::untimed).toList());
      }
    }
  }

  private CounterState model(String name) {
    return models.computeIfAbsent(
        name, unknown -> new CounterState(CounterView.unknown(unknown), List.of()));
  }

  /** Without what the database's clock says. */
  private static String untimed(Object answerOrEntry) {
    return answerOrEntry
        .toString()
        .replaceAll("\\b(at|until)=\\d+", "")
        .replaceAll("(status=never[^]]*)issuedMillis=\\d+", "$1");
  }
}
