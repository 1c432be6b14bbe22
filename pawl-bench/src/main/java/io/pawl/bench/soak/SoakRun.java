package io.pawl.bench.soak;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.bench.BenchException;
import io.pawl.bench.Settings;
import io.pawl.bench.soak.SoakNotes.Note;
import io.pawl.bench.soak.SoakPlan.Fault;
import io.pawl.bench.soak.SoakPlan.Kind;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome;
import io.pawl.counter.Update;
import io.pawl.options.PawlOptions;
import io.pawl.servers.fault.Child;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One soak: client JVMs take from a few counters while faults are played, until all faults were
 * played and as many takes told as planned. Then what nobody was told is asked for by its id, and
 * the ledger is checked.
 */
final class SoakRun {

  private static final int USUAL_BUYERS = 200;
  private static final long LOOK_MILLIS = 10;
  private static final long PATIENCE_MILLIS = 90_000;
  private static final int OUTCOMES_AT_ONCE = 1_000;

  /** Of every other JVM: less than an outage lasts, so that outcomes stay unknown. */
  private static final List<Long> CLIENTS_PATIENCE_MILLIS = List.of(5_000L, 300L);

  private static final List<String> HEAP = List.of("-Xmx256m", "-XX:+UseSerialGC");

  private final SoakGround ground;
  private final SoakPlan plan;
  private final Settings settings;
  private final Path folder;
  private final Consumer<String> progress;
  private final int mostTakes;
  private final Map<Integer, SoakNotes> notes = new TreeMap<>();
  private final List<Client> clients = new ArrayList<>();
  private final Map<Kind, Integer> played = new EnumMap<>(Kind.class);

  /** A JVM and its number. */
  private record Client(int jvm, Child process) {}

  /**
   * What came out.
   *
   * @param notes how many takes have each
   * @param violations what is not as it must be, in words
   */
  record Result(
      Map<Note, Long> notes,
      Map<Kind, Integer> played,
      int jvms,
      double seconds,
      List<String> violations) {

    long count(Note... some) {
      long sum = 0;
      for (Note note : some) {
        sum += notes.getOrDefault(note, 0L);
      }
      return sum;
    }
  }

  /**
   * @param folder of this soak alone, for the notes
   */
  SoakRun(
      SoakGround ground, SoakPlan plan, Settings settings, Path folder, Consumer<String> progress) {
    this.ground = ground;
    this.plan = plan;
    this.settings = settings;
    this.folder = folder;
    this.progress = progress;
    this.mostTakes = (int) Math.min(2 * plan.takes() + 1_000_000, Integer.MAX_VALUE - 1_000);
  }

  Result run() {
    fillStock();
    long from = System.nanoTime();
    try {
      for (int jvm = 0; jvm < SoakTake.CLIENTS; jvm++) {
        clients.add(start(jvm));
      }
      for (Fault fault : plan.faults()) {
        awaitTold(fault.at());
        progress.accept(describe(fault));
        play(fault);
        played.merge(fault.kind(), 1, Integer::sum);
      }
      awaitTold(plan.takes());
      for (Client client : clients) {
        client.process().goOn();
      }
      for (Client client : clients) {
        client.process().awaitEnd(PATIENCE_MILLIS);
      }
    } finally {
      clients.forEach(client -> client.process().close());
    }
    double seconds = (System.nanoTime() - from) / 1e9;
    progress.accept("asking for what nobody was told");
    findOut();
    progress.accept("checking the ledger");
    List<String> violations = violations();
    Map<Note, Long> counts = new EnumMap<>(Note.class);
    notes
        .values()
        .forEach(told -> told.counts().forEach((note, n) -> counts.merge(note, n, Long::sum)));
    return new Result(counts, played, notes.size(), seconds, violations);
  }

  /** Where told and ledger disagree, as of now. */
  List<String> violations() {
    return SoakCheck.violations(ground.ledger(), notes, plan.takes(), !ground.isGate());
  }

  private void fillStock() {
    try (Pawl pawl = Pawl.connect(ground.ownAddress())) {
      for (int counter = 0; counter < SoakTake.COUNTERS.size(); counter++) {
        Change change =
            pawl.counter(SoakTake.COUNTERS.get(counter))
                .update(
                    Update.set(SoakTake.stock(counter, plan.takes())),
                    OperationId.of(SoakCheck.ID_OF_STOCK));
        if (!change.isApplied()) {
          throw new BenchException("the stock was refused: " + change);
        }
      }
    }
  }

  private Client start(int jvm) {
    notes.put(jvm, SoakNotes.of(folder, jvm, mostTakes));
    SoakFork.Order order =
        new SoakFork.Order(
            ground.address(),
            folder,
            jvm,
            mostTakes,
            settings.threads() == 0 ? USUAL_BUYERS : settings.threads(),
            CLIENTS_PATIENCE_MILLIS.get(jvm % CLIENTS_PATIENCE_MILLIS.size()));
    List<String> jvmArguments = new ArrayList<>(HEAP);
    jvmArguments.addAll(settings.jvmArguments());
    return new Client(
        jvm,
        new Child(
            "client JVM " + jvm,
            jvmArguments,
            Child.ownClassPath(),
            SoakFork.class,
            order.toArguments()));
  }

  private long told() {
    return notes.values().stream().mapToLong(SoakNotes::told).sum();
  }

  private void awaitTold(long takes) {
    long before = told();
    long since = System.nanoTime();
    for (long now = before; now < takes; now = told()) {
      for (Client client : clients) {
        if (!client.process().isAlive()) {
          throw new BenchException(
              "client JVM " + client.jvm() + " has ended; its complaint stands above");
        }
      }
      if (now > before) {
        before = now;
        since = System.nanoTime();
      } else if (System.nanoTime() - since > TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS)) {
        throw new BenchException("no take was answered for " + PATIENCE_MILLIS / 1000 + " s");
      }
      Settings.pause(LOOK_MILLIS);
    }
  }

  private String describe(Fault fault) {
    return String.format(
        Locale.ROOT,
        "%,d told: %s%s, %d ms",
        told(),
        fault.kind().title(),
        fault.kind().isOfClient() ? "" : ", " + ground.parts().get(fault.part()).name(),
        fault.millis());
  }

  private void play(Fault fault) {
    if (fault.kind().isOfClient()) {
      int killed = fault.part() % clients.size();
      Client client = clients.get(killed);
      client.process().kill();
      clients.set(killed, start(client.jvm() + SoakTake.CLIENTS));
      return;
    }
    fault.kind().onServer().play(ground.parts().get(fault.part()), fault.millis(), fault.replies());
  }

  /** Asks for each take of which nobody knows what became of it; from then on that is final. */
  private void findOut() {
    PawlOptions patient = PawlOptions.defaults().patience(Duration.ofMillis(PATIENCE_MILLIS));
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    Semaphore atOnce = new Semaphore(OUTCOMES_AT_ONCE);
    try (Pawl pawl = Pawl.connect(ground.ownAddress(), patient)) {
      List<Counter> counters = SoakTake.COUNTERS.stream().map(pawl::counter).toList();
      for (SoakNotes told : notes.values()) {
        for (int number = 0; number < told.asked(); number++) {
          SoakTake take = told.take(number);
          if (told.get(take).isOpen()) {
            atOnce.acquireUninterruptibly();
            counters
                .get(SoakTake.COUNTERS.indexOf(take.counter()))
                .async()
                .outcome(take.id())
                .whenComplete(
                    (outcome, error) -> {
                      if (error == null) {
                        told.put(take, found(outcome));
                      } else {
                        failure.set(error);
                      }
                      atOnce.release();
                    });
          }
        }
      }
      atOnce.acquireUninterruptibly(OUTCOMES_AT_ONCE);
    }
    if (failure.get() != null) {
      throw new BenchException("what became of a take cannot be found out", failure.get());
    }
  }

  private static Note found(Outcome outcome) {
    return switch (outcome.status()) {
      case APPLIED -> Note.FOUND_APPLIED;
      case REFUSED -> Note.FOUND_REFUSED;
      case NEVER -> Note.FOUND_NEVER;
      default -> Note.CONTRADICTED;
    };
  }
}
