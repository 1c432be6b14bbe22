package io.pawl.spi.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LedgerEntry.Status;
import io.pawl.spi.Operation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Random sequences of all operations; after every step P7 holds, and a naive model agrees. */
class CounterRulePropertiesTest {

  private static final int SEQUENCES = 3_000;
  private static final int STEPS = 60;

  @Test
  void everyPromiseHoldsAfterEveryStepOfFixedSequences() {
    for (long seed = 0; seed < SEQUENCES; seed++) {
      new Sequence(seed).run();
    }
  }

  @Test
  void everyPromiseHoldsAfterEveryStepOfRandomSequences() {
    Random seeds = new Random();
    for (int i = 0; i < 500; i++) {
      new Sequence(seeds.nextLong()).run();
    }
  }

  private static final class Sequence {
    private final long seed;
    private final Random random;
    private final Map<String, CounterState> states = new TreeMap<>();
    private final Map<String, NaiveCounter> model = new TreeMap<>();
    private final Map<String, CounterAnswer> firstAnswers = new HashMap<>();
    private long now = 1_000;
    private String step = "";

    Sequence(long seed) {
      this.seed = seed;
      this.random = new Random(seed);
      for (String name : List.of("a", "b")) {
        states.put(name, new CounterState(CounterView.unknown(name), List.of()));
        model.put(name, new NaiveCounter());
      }
    }

    void run() {
      for (int i = 0; i < STEPS; i++) {
        now += random.nextInt(4);
        CounterRequest request = randomRequest();
        step = "seed " + seed + ", step " + i + ": " + request + " at " + now;
        CounterAnswer answer = CounterRule.apply(states, request, now);
        request.operations().keySet().forEach(name -> model.get(name).expire(now));
        String expected = NaiveCounter.apply(model, request, now);
        assertThat(answer.getClass().getSimpleName()).as(step).isEqualTo(expected);
        assertRepeats(request, answer);
        assertPromises();
      }
    }

    private CounterRequest randomRequest() {
      String id = "id" + random.nextInt(12);
      boolean resolves = random.nextInt(3) == 0;
      TreeMap<String, Operation> operations = new TreeMap<>();
      int counters = 1 + random.nextInt(2);
      List<String> names = new ArrayList<>(List.of("a", "b"));
      for (int i = 0; i < counters; i++) {
        String name = names.remove(random.nextInt(names.size()));
        operations.put(name, resolves ? randomResolving() : randomEntering());
      }
      return new CounterRequest(id, now, operations, true);
    }

    private Operation randomEntering() {
      return switch (random.nextInt(7)) {
        case 0 -> new Operation.SetTo(random.nextInt(8) - 1);
        case 1 -> new Operation.CompareAndSet(random.nextInt(4), random.nextInt(8));
        case 2 -> new Operation.SetBounds(random.nextInt(3) - 1, 2 + random.nextInt(8));
        case 3, 4 -> new Operation.Reserve(1 + random.nextInt(2), 1 + random.nextInt(9));
        case 5 -> new Operation.Add(1 + random.nextInt(3));
        default -> new Operation.Add(-1 - random.nextInt(2));
      };
    }

    private Operation randomResolving() {
      return switch (random.nextInt(3)) {
        case 0 -> Operation.CONFIRM;
        case 1 -> Operation.CANCEL;
        default -> Operation.CLOSE;
      };
    }

    /** The same again is answered alike and changes nothing. */
    private void assertRepeats(CounterRequest request, CounterAnswer answer) {
      List<CounterView> before = views();
      assertThat(CounterRule.apply(states, request, now)).as(step).isEqualTo(answer);
      assertThat(views()).as(step).isEqualTo(before);
      if (request.enters() && !(answer instanceof CounterAnswer.Conflict)) {
        CounterAnswer first =
            firstAnswers.putIfAbsent(request.id() + " " + request.operations(), answer);
        if (first != null) {
          assertThat(answer.getClass()).as(step).isEqualTo(first.getClass());
        }
      }
    }

    private List<CounterView> views() {
      return states.values().stream().map(CounterState::view).toList();
    }

    private void assertPromises() {
      for (CounterState state : states.values()) {
        CounterView view = state.view();
        NaiveCounter naive = model.get(view.name());
        long changes = state.entries().stream().mapToLong(LedgerEntry::change).sum();
        long open =
            state.entries().stream()
                .filter(entry -> entry.status() == Status.RESERVED)
                .mapToLong(LedgerEntry::change)
                .sum();
        assertThat(view.value()).as(step).isEqualTo(changes).isEqualTo(naive.value);
        assertThat(view.reserved()).as(step).isEqualTo(-open).isEqualTo(naive.reserved());
        assertThat(view.value()).as(step).isGreaterThanOrEqualTo(view.floor());
        assertThat(view.value() + view.reserved()).as(step).isLessThanOrEqualTo(view.ceiling());
        assertThat(view.floor()).as(step).isEqualTo(naive.floor);
        assertThat(view.ceiling()).as(step).isEqualTo(naive.ceiling);
      }
    }
  }
}
