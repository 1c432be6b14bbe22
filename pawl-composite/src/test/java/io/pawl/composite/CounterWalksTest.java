package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.Operation;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Two clients at one counter, at random and one step after another, under a clock of the test's.
 */
class CounterWalksTest {

  private static final int WALKS = 300;

  /** Without comparisons in the background: the walk makes them. */
  private static final GateOptions OPTIONS =
      GateOptions.defaults()
          .gatePatience(Duration.ofSeconds(10))
          .gatePause(Duration.ofMinutes(1))
          .settle(Duration.ofMinutes(1));

  @Test
  void p7_conservation_whateverTheGateHasAndNoTakeIsRefusedForLongerThanPromised() {
    for (int seed = 0; seed < WALKS; seed++) {
      try (Walk walk = new Walk(seed)) {
        walk.go(150);
        assertThat(walk.wrong).as(() -> String.join("\n", walk.log)).isEmpty();
      }
    }
  }

  private static final class Walk implements AutoCloseable {

    private final List<String> log = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private final Random random;

    /** Else the gate hears all, and may never be wrong. */
    private final boolean faulty;

    private final AtomicLong clock = new AtomicLong();
    private final MemoryStore gateStore = new MemoryStore(clock::get);
    private final MemoryStore truth = new MemoryStore(clock::get);
    private final Client[] clients = {new Client(), new Client()};
    private final Map<String, Operation> made = new HashMap<>();
    private final Map<String, Boolean> answers = new HashMap<>();
    private long ids;

    /** It may have less than the truth. */
    private boolean gateMayBeWrong;

    /** One that may be replaced, as if it had crashed. */
    private final class Client {

      private final Threads threads = new Threads();
      private final FaultyStore toGate = new FaultyStore(gateStore);
      private final Gate gate = new Gate("gate", toGate, () -> toGate, OPTIONS, threads, () -> {});
      private final Mirror mirror =
          new Mirror(gate, truth, OPTIONS, threads, clock::get, new Random(0));
      private final GateCounters counters =
          new GateCounters(gate, truth, OPTIONS, threads, clock::get, mirror);

      /** When it rose without this client's doing, and this did not raise it since. */
      private long roseNanos = -TimeUnit.MINUTES.toNanos(1);

      boolean mayRefuse() {
        return gateMayBeWrong || clock.get() - roseNanos < OPTIONS.soldOutKept().toNanos();
      }
    }

    Walk(int seed) {
      random = new Random(seed);
      faulty = seed % 2 == 0;
      apply(clients[0], "first", new Operation.SetTo(5), true);
    }

    @Override
    public void close() {
      for (Client client : clients) {
        client.threads.close();
      }
    }

    void go(int steps) {
      for (int i = 0; i < steps && wrong.isEmpty(); i++) {
        step();
      }
      Client last = client();
      last.toGate.heal();
      Stock stock = new Stock("stock");
      last.mirror.publish(stock, view().value());
      last.mirror.settle(stock);
      CounterView there = Seam.answer(gateStore.read("stock")).orElseThrow();
      if (there.value() != view().value() || there.floor() != view().floor()) {
        wrong.add("gate has " + there + ", truth " + view());
      }
      if (Seam.answer(gateStore.history("stock", 100)).size() > 3) {
        wrong.add("the gate remembers old changes");
      }
      if (Seam.ledger(truth, "stock") != view().value()) {
        wrong.add("ledger of " + view());
      }
    }

    private Client client() {
      return clients[random.nextInt(clients.length)];
    }

    private CounterView view() {
      return Seam.answer(truth.read("stock")).orElseThrow();
    }

    private void step() {
      Client client = client();
      int amount = 1 + random.nextInt(4);
      switch (random.nextInt(16)) {
        case 0, 1, 2, 3, 4, 5 -> take(client, amount);
        case 6, 7 -> apply(client, newId(), new Operation.Add(-amount), true);
        case 8 -> apply(client, newId(), new Operation.Add(amount), random.nextBoolean());
        case 9 -> apply(client, newId(), new Operation.Reserve(amount, ttlMillis()), true);
        case 10 -> apply(client, newId(), bounds(), false);
        case 11 -> resolve(client);
        case 12, 13 -> repeat(client);
        case 14 -> compare(client);
        default -> fault(client);
      }
      replaceWhoseGateIsAway();
      pass(random.nextInt(120));
    }

    private long ttlMillis() {
      return faulty ? 1 + random.nextInt(400) : TimeUnit.DAYS.toMillis(1);
    }

    private void fault(Client client) {
      if (faulty && random.nextBoolean()) {
        lose(client);
      } else if (faulty) {
        spoil();
      }
    }

    private String newId() {
      return "id" + ++ids;
    }

    private Operation bounds() {
      return new Operation.SetBounds(random.nextInt(7) - 3, 1_000);
    }

    private void take(Client client, long amount) {
      CounterView before = view();
      boolean possible = before.value() - before.floor() >= amount;
      boolean mayRefuse = client.mayRefuse();
      boolean taken = apply(client, newId(), new Operation.Add(-amount), false);
      if (taken != possible && (taken || !mayRefuse)) {
        wrong.add("take of " + amount + " from " + before + ": " + taken);
      }
    }

    private boolean apply(Client client, String id, Operation operation, boolean records) {
      made.put(id, operation);
      return send(client, id, operation, records);
    }

    private void repeat(Client client) {
      String id = "id" + (1 + random.nextLong(ids + 1));
      Operation operation = made.get(id);
      if (operation != null) {
        send(client, id, operation, true);
      }
    }

    private void resolve(Client client) {
      String id = "id" + (1 + random.nextLong(ids + 1));
      if (made.get(id) instanceof Operation.Reserve) {
        send(client, id, random.nextBoolean() ? Operation.CANCEL : Operation.CONFIRM, true);
      }
    }

    private boolean send(Client client, String id, Operation operation, boolean records) {
      long before = Seam.value(truth, "stock") - floor();
      CounterRequest request = CounterRequest.of("stock", id, 0, operation, records);
      CounterAnswer answer = Seam.answer(client.counters.apply(request));
      log.add(clock.get() / 1_000_000 + " " + number(client) + " " + request + ": " + answer);
      boolean done = answer instanceof CounterAnswer.Applied;
      if (records && operation instanceof Operation.Entering) {
        Boolean said = answers.putIfAbsent(id, done);
        if (said != null && said != done) {
          wrong.add(id + " was said to be " + said);
        }
      }
      if (Seam.value(truth, "stock") - floor() > before) {
        rose(client);
      }
      return done;
    }

    private long floor() {
      return Seam.answer(truth.read("stock")).map(CounterView::floor).orElse(0L);
    }

    private int number(Client client) {
      return client == clients[0] ? 0 : 1;
    }

    private void rose(Client raiser) {
      for (Client client : clients) {
        if (client != raiser) {
          client.roseNanos = clock.get();
        }
      }
      raiser.roseNanos = -TimeUnit.MINUTES.toNanos(1);
      gateMayBeWrong |= raiser.gate.isAway();
    }

    /** The gate is left out from then on. */
    private void lose(Client client) {
      client.toGate.next(Verb.APPLY, random.nextBoolean() ? Fault.LOSE_REQUEST : Fault.LOSE_REPLY);
    }

    private void replaceWhoseGateIsAway() {
      for (int i = 0; i < clients.length; i++) {
        if (clients[i].gate.isAway()) {
          log.add(i + " crashes");
          clients[i].threads.close();
          clients[i] = new Client();
          gateMayBeWrong = true;
        }
      }
    }

    /** As one that was restored. */
    private void spoil() {
      long value = view().value() + random.nextInt(9) - 4;
      long generation = Seam.answer(gateStore.read("stock")).orElseThrow().keptFromMillis();
      Operation restored = new Operation.SetTo(value);
      Seam.answer(
          gateStore.apply(CounterRequest.of("stock", newId(), generation, restored, false)));
      log.add("gate has " + value);
      gateMayBeWrong = true;
    }

    private void compare(Client client) {
      client.mirror.settle(new Stock("stock"));
      if (client.gate.isAway()) {
        return;
      }
      log.add("compared");
      if (gateMayBeWrong) {
        gateMayBeWrong = false;
        for (Client each : clients) {
          each.roseNanos = clock.get();
        }
      }
    }

    /** In which reservations may run out. */
    private void pass(long millis) {
      long before = Seam.value(truth, "stock");
      clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
      gateMayBeWrong |= Seam.value(truth, "stock") > before;
    }
  }
}
