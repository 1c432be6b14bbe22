package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Amounts;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Operation;
import io.pawl.spi.rule.CounterRule;
import io.pawl.spi.rule.CounterState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The scripts and {@link CounterRule} go through the same random histories, under a clock that the
 * test moves, and must agree on every answer, every value and bound, and every line of the ledgers.
 */
class CounterDifferentialTest {

  private static final int STEPS = 1200;
  private static final long[] EXTREMES = {
    Amounts.MAX, -Amounts.MAX, Amounts.MAX - 1, 1 - Amounts.MAX, 1L << 52, -(1L << 52)
  };

  private final Map<String, CounterState> models = new HashMap<>();
  private final Set<CounterAnswer> seen = new HashSet<>();
  private Random random = new Random();
  private RedisServer server;
  private RedisStore store;
  private boolean extreme;
  private long nowMillis;
  private int newest;

  @ParameterizedTest
  @CsvSource({"REDIS,1,false", "REDIS,2,true", "REDIS,3,false", "VALKEY,4,false", "VALKEY,5,true"})
  void scriptsDecideAsTheCounterRuleDoes(Flavour flavour, long seed, boolean extremes) {
    random = new Random(seed);
    extreme = extremes;
    try (RedisServer started = RedisServer.setup().flavour(flavour).start()) {
      server = started;
      nowMillis = System.currentTimeMillis() + 86_400_000;
      tick(0);
      try (RedisStore opened = TestClock.store(server)) {
        store = opened;
        for (int i = 0; i < STEPS; i++) {
          step();
        }
      }
    }
    for (Class<?> kind : CounterAnswer.class.getPermittedSubclasses()) {
      assertThat(seen).as("answers that were met").anyMatch(kind::isInstance);
    }
  }

  private void step() {
    int dice = random.nextInt(100);
    if (dice < 65) {
      apply(List.of(anyName()), dice < 45);
    } else if (dice < 80) {
      List<String> names = new ArrayList<>(List.of("counter0", "counter1", "counter2"));
      Collections.shuffle(names, random);
      apply(names.subList(0, 2 + random.nextInt(2)), dice < 75);
    } else if (dice < 84) {
      applyMany();
    } else if (dice < 86) {
      prune(anyName());
    } else if (dice < 90) {
      agree(anyName());
    } else {
      tick(random.nextInt(random.nextBoolean() ? 20 : 600));
    }
  }

  private String anyName() {
    return "counter" + random.nextInt(3);
  }

  private void apply(List<String> names, boolean enters) {
    TreeMap<String, Operation> operations = new TreeMap<>();
    for (String name : names) {
      operations.put(name, enters ? change() : resolving());
    }
    apply(List.of(new CounterRequest(anyId(), anyTime(), operations, random.nextInt(4) > 0)));
  }

  /** Mostly takes, under way together so that they share commands. */
  private void applyMany() {
    List<CounterRequest> requests = new ArrayList<>();
    for (int i = 1 + random.nextInt(25); i > 0; i--) {
      Operation operation = random.nextInt(50) > 0 ? new Operation.Add(-amount()) : resolving();
      boolean records = random.nextInt(4) > 0;
      String name = "counter" + random.nextInt(20) / 18;
      requests.add(CounterRequest.of(name, anyId(), anyTime(), operation, records));
    }
    apply(requests);
  }

  private void apply(List<CounterRequest> requests) {
    List<CounterAnswer> expected = requests.stream().map(this::decide).toList();
    List<CompletionStage<CounterAnswer>> asked = requests.stream().map(store::apply).toList();

    for (int i = 0; i < asked.size(); i++) {
      CounterAnswer found = Seam.answer(asked.get(i));
      assertThat(found).as("%s at %d", requests.get(i), nowMillis).isEqualTo(expected.get(i));
      seen.add(found);
    }
    requests.stream()
        .flatMap(request -> request.operations().keySet().stream())
        .distinct()
        .forEach(this::agree);
  }

  private CounterAnswer decide(CounterRequest request) {
    Map<String, CounterState> states = new HashMap<>();
    request.operations().keySet().forEach(name -> states.put(name, model(name)));
    CounterAnswer answer = CounterRule.apply(states, request, nowMillis);
    states.forEach(
        (name, state) -> {
          if (!state.takeChanges().isEmpty()) {
            models.put(name, state);
          }
        });
    return answer;
  }

  private Operation change() {
    return switch (random.nextInt(10)) {
      case 0 -> new Operation.SetTo(value());
      case 1 -> new Operation.CompareAndSet(model(anyName()).view().value(), value());
      case 2 -> bounds();
      case 3, 4, 5 -> new Operation.Reserve(amount(), 1 + random.nextInt(2_000));
      default -> new Operation.Add(random.nextInt(3) > 0 ? -amount() : amount());
    };
  }

  private Operation bounds() {
    long one = value();
    long other = value();
    return new Operation.SetBounds(Math.min(one, other) - 3, Math.max(one, other) + 3);
  }

  private Operation resolving() {
    return switch (random.nextInt(4)) {
      case 0 -> Operation.CLOSE;
      case 1 -> Operation.CANCEL;
      default -> Operation.CONFIRM;
    };
  }

  private long value() {
    return extreme && random.nextBoolean()
        ? Math.max(3 - Amounts.MAX, Math.min(Amounts.MAX - 3, anyExtreme()))
        : random.nextInt(60);
  }

  private long amount() {
    return extreme && random.nextBoolean() ? Math.abs(anyExtreme()) : 1 + random.nextInt(12);
  }

  private long anyExtreme() {
    return EXTREMES[random.nextInt(EXTREMES.length)];
  }

  /** Mostly a new one or one of the latest; dated or not. */
  private String anyId() {
    int back = random.nextInt(3) == 0 ? 0 : random.nextInt(12);
    int number = back == 0 ? ++newest : Math.max(0, newest - back);
    return "id é " + number;
  }

  private long anyTime() {
    return random.nextInt(10) == 0 ? 0 : nowMillis - random.nextInt(900);
  }

  private void prune(String name) {
    long before = nowMillis - 1_000 - random.nextInt(5_000);
    CounterState model = models.get(name);
    long expected = 0;
    if (model != null) {
      CounterRule.settle(model, nowMillis);
      expected = model.entries().size();
      model.forget(before, nowMillis);
      expected -= model.entries().size();
      model.takeChanges();
    }
    assertThat(Seam.answer(store.prune(name, Instant.ofEpochMilli(before)))).isEqualTo(expected);
    agree(name);
  }

  /** Both know the same counter and the same ledger. */
  private void agree(String name) {
    CounterState model = models.get(name);
    if (model == null) {
      assertThat(Seam.answer(store.read(name))).isEmpty();
      assertThat(Seam.answer(store.history(name, 10))).isEmpty();
      return;
    }
    CounterRule.settle(model, nowMillis);
    model.takeChanges();
    assertThat(Seam.answer(store.read(name))).contains(model.view());
    List<LedgerEntry> expected = new ArrayList<>(model.entries());
    Collections.reverse(expected);
    assertThat(Seam.answer(store.history(name, Integer.MAX_VALUE))).isEqualTo(expected);
  }

  private CounterState model(String name) {
    CounterState known = models.get(name);
    return known != null ? known : new CounterState(CounterView.unknown(name), List.of());
  }

  private void tick(long millis) {
    nowMillis += millis;
    TestClock.set(server, 1000 * nowMillis + random.nextInt(1000));
  }
}
