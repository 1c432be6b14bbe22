package io.pawl.lab.chaos;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.checker.Span;
import io.pawl.checker.Stock;
import io.pawl.error.StoreException;
import io.pawl.lab.chaos.Ground.Shortage;
import io.pawl.lab.chaos.Ground.Store;
import io.pawl.lab.chaos.Worker.Counting;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.ClockLibrary;
import io.pawl.servers.fault.Child;
import io.pawl.servers.fault.ProxiedServer;
import io.pawl.servers.fault.Shard;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * One run: workers use locks and counters while faults are played, until the time is over. Then
 * each lock has to be free, whatever nobody was told of a take is asked for, and all is read.
 */
final class ChaosRun {

  static final String READY = "ready";

  /**
   * How long somebody may wait while a lock is free, or while somebody who came later is served.
   */
  static final long WAIT_BOUND_MILLIS = 3_000;

  private static final int WORKERS = 3;
  private static final int OURSELVES = -1;
  private static final long READY_MILLIS = 90_000;
  private static final long WARM_UP_MILLIS = 2_000;
  private static final long END_MILLIS = 120_000;
  private static final int MOST_FIRST = 3;

  /** How often kinds that hit nothing come again in the end. */
  private static final int MOST_MORE = 3;

  private static final int MOST_TRIES = 50;
  private static final int MOST_STALLS = 3;
  private static final long AIM_MILLIS = 10;
  private static final Duration CLOCK_MOVES = Duration.ofHours(1);
  private static final long CLOCK_SEEN_MILLIS = 5_000;
  private static final Duration PROBE = Duration.ofSeconds(10);
  private static final List<String> HEAP =
      List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto");

  private final Ground ground;
  private final Order order;
  private final Path folder;

  /** By which workers' wall clocks are moved. */
  private final Path clock;

  private final Progress progress;
  private final Plan plan;

  /** The last fault of each kind. */
  private final Map<Fault.Kind, Fault> latest = new EnumMap<>(Fault.Kind.class);

  private final Referee referee;
  private final List<Client> clients = new ArrayList<>();
  private final List<Played> played = new ArrayList<>();
  private final Map<Integer, Long> killedAt = new TreeMap<>();
  private final List<Integer> jvms = new ArrayList<>();
  private final Takeovers takeovers;
  private long takeoversSeen;

  /** Hears what is played. */
  interface Progress {

    /**
     * @param victim in words
     */
    void plays(Fault fault, String victim);
  }

  /** A worker, which is ready once, and stays so. */
  private static final class Client {
    private final int jvm;
    private final Child process;
    private boolean ready;

    Client(int jvm, Child process) {
      this.jvm = jvm;
      this.process = process;
    }

    int jvm() {
      return jvm;
    }

    Child process() {
      return process;
    }

    void awaitReady() {
      if (!ready) {
        process.hear(READY, READY_MILLIS);
        ready = true;
      }
    }
  }

  /**
   * What is to be run.
   *
   * @param library whose locks are used
   * @param store on what
   * @param seed from which everything follows but the times at which threads and servers are fast
   * @param millis how long faults are played
   * @param leaseMillis of the workers
   * @param jvmArguments of the workers, beside the usual ones
   * @param faults to be played instead of those that follow from the seed, if any are given
   */
  record Order(
      Library library,
      Store store,
      long seed,
      long millis,
      long leaseMillis,
      List<String> jvmArguments,
      List<Fault> faults) {

    /** The same with these faults. */
    Order with(List<Fault> others) {
      return new Order(library, store, seed, millis, leaseMillis, jvmArguments, others);
    }

    /**
     * How long it takes at most to get over a fault: a lease of whoever was there, one of whoever
     * was next, what a session of the store lasts longer, and the way back to the store.
     */
    long tailMillis() {
      return 2 * leaseMillis + store.sessionMillis + 1_000;
    }

    /** How long nothing is wrong so that waits can be judged. */
    long calmMillis() {
      return tailMillis() + WAIT_BOUND_MILLIS + 1_000;
    }

    /** From when on a beat of a {@link Pulse} is late. */
    long lateMillis() {
      return leaseMillis / 4;
    }
  }

  /**
   * @param folder of this run alone
   */
  private ChaosRun(Ground ground, Order order, Path folder, Progress progress) {
    this.ground = ground;
    this.order = order;
    this.folder = folder;
    this.progress = progress;
    this.plan = new Plan(order.seed(), ground.scene(), order.leaseMillis(), order.calmMillis());
    this.referee = Referee.in(folder);
    this.takeovers = new Takeovers(order.leaseMillis());
    this.clock = folder.resolve("clock");
    ClockLibrary.move(clock, Duration.ZERO);
  }

  /** Starts the servers, runs and judges. */
  static Result run(Order order, Path folder, Progress progress) {
    try (Ground ground = order.store().start(folder)) {
      return new ChaosRun(ground, order, folder, progress).run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ChaosException("interrupted", e);
    }
  }

  private Counting counting() {
    Store store = order.store();
    return order.library().isRival() || !store.hasCounters
        ? Counting.NONE
        : store == Store.GATE ? Counting.PLENTY : Counting.ALL;
  }

  private Result run() throws InterruptedException {
    Optional<Stocks> counters =
        counting() == Counting.NONE
            ? Optional.empty()
            : Optional.of(new Stocks(ground.ownAddress(), folder));
    if (counters.isPresent()) {
      counters.get().fill();
    }
    takeoversSeen = ground.rest().takeovers();
    long from = System.nanoTime();
    try (Pulse pulse = Pulse.ofMachine(folder, OURSELVES, order.lateMillis());
        PasserBy passerBy = order.library().isRival() ? null : new PasserBy(ground.ownAddress())) {
      for (int jvm = 0; jvm < WORKERS; jvm++) {
        clients.add(start(jvm));
      }
      clients.forEach(Client::awaitReady);
      Thread.sleep(WARM_UP_MILLIS);
      if (order.faults().isEmpty()) {
        playPlan();
      } else {
        for (Fault fault : order.faults()) {
          playAfterGap(fault);
        }
      }
      Thread.sleep(order.calmMillis());
      noteTakeovers();
      checkAlive();
      for (Client client : clients) {
        client.process().goOn();
      }
      for (Client client : clients) {
        client.process().awaitEnd(END_MILLIS);
      }
    } finally {
      clients.forEach(client -> client.process().close());
    }
    double seconds = (System.nanoTime() - from) / 1e9;
    List<String> stuck =
        order.library().isRival()
            ? RivalPlayers.probe(order.library().rival(), ground.ownAddress(), order.leaseMillis())
            : probe();
    List<Stock> stocks = counters.isPresent() ? counters.get().settle(jvms, takeovers) : List.of();
    List<Span> late = new ArrayList<>(Pulse.late(folder, OURSELVES));
    jvms.forEach(jvm -> late.addAll(Pulse.late(folder, jvm)));
    long tail = TimeUnit.MILLISECONDS.toNanos(order.tailMillis());
    Chronicle chronicle = new Chronicle(folder, jvms, killedAt, played, late, tail, stocks);
    return Result.of(order, seconds, jvms.size(), played, late, chronicle, takeovers, stuck);
  }

  /** The first of all comes again until it has done what it has to. */
  private void playPlan() throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(order.millis());
    Fault first = plan.next();
    if (order.library().isRival()) {
      first = first.longerBy(order.store().sessionMillis); // their lease is the session itself
    }
    for (int tries = 0; tries < MOST_FIRST && referee.staleWrites() == 0; tries++) {
      playAfterGap(first);
    }
    for (Fault fault = plan.next(); isBefore(until, fault.gapMillis()); fault = plan.next()) {
      playAfterGap(fault);
    }
    for (int tries = 0; tries < MOST_MORE; tries++) {
      for (Fault fault : whatHitNothing()) {
        playAfterGap(fault.elsewhere());
      }
    }
  }

  /** In a short run a kind comes once or twice, and may find nobody to hit. */
  private List<Fault> whatHitNothing() {
    Map<Fault.Kind, Fault> missed = new EnumMap<>(latest);
    played.stream().filter(fault -> fault.hits() > 0).map(Played::kind).forEach(missed::remove);
    return List.copyOf(missed.values());
  }

  private void playAfterGap(Fault fault) throws InterruptedException {
    Thread.sleep(fault.gapMillis());
    checkAlive();
    latest.put(fault.kind(), fault);
    play(fault);
  }

  private static boolean isBefore(long until, long gapMillis) {
    return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(gapMillis) - until < 0;
  }

  private Client start(int jvm) {
    jvms.add(jvm);
    Worker.Order its =
        new Worker.Order(
            order.library(),
            ground.address(),
            folder,
            jvm,
            order.seed(),
            order.leaseMillis(),
            order.store().hasPermits(),
            counting());
    List<String> jvmArguments = new ArrayList<>(HEAP);
    jvmArguments.addAll(order.jvmArguments());
    return new Client(
        jvm,
        new Child(
            "worker " + jvm,
            jvmArguments,
            Child.ownClassPath(),
            Worker.class,
            its.toArguments(),
            ClockLibrary.movedBy(clock)));
  }

  private void checkAlive() {
    for (Client client : clients) {
      if (!client.process().isAlive()) {
        throw new ChaosException(
            "worker " + client.jvm() + " has ended; its complaint stands above");
      }
    }
  }

  /** One that came after a fault had ended is that fault's too. */
  private void noteTakeovers() {
    long now = ground.rest().takeovers();
    if (now != takeoversSeen && !played.isEmpty()) {
      takeovers.add(played.get(played.size() - 1).began(), System.nanoTime());
    }
    takeoversSeen = now;
  }

  private void play(Fault fault) {
    noteTakeovers();
    boolean isOfWorker = fault.kind().isOfWorker();
    int picked = fault.part() % (isOfWorker ? clients.size() : ground.scene().servers());
    int victim = isOfWorker ? clients.get(picked).jvm() : -1;
    String part = isOfWorker ? "" : ground.name(picked);
    boolean isOfAll = fault.kind() == Fault.Kind.WORKER_CLOCK_MOVED || fault.kind().endsForAll();
    String of = !isOfWorker ? part : isOfAll ? "all workers" : "worker " + victim;
    if (isOfWorker) {
      clients.get(picked).awaitReady(); // else there is nobody to hit
    }
    progress.plays(fault, of);
    long began = System.nanoTime();
    int hits =
        switch (fault.kind()) {
          case WORKER_STOPPED -> {
            Child child = clients.get(picked).process();
            boolean isInside = stopInside(child, victim);
            sleep(fault.millis());
            child.resume();
            yield isInside ? 1 : 0;
          }
          case WORKER_KILLED -> {
            clients.get(picked).process().kill();
            killedAt.put(victim, System.nanoTime());
            referee.strikeOut(victim);
            yield Notebook.of(folder, victim).open();
          }
          case WORKER_CLOCK_MOVED -> moveClocks(victim, fault);
          case WRITES_FAIL -> refuseWrites(began, fault);
          case TAKEOVER_BY_KILL -> {
            int underWay = underWay();
            ground.shards().get(picked).killUntilTakeover();
            yield healed(underWay);
          }
          case TAKEOVER_BY_STOP -> healed(ground.shards().get(picked).stopUntilTakeover());
          case REPLICA_STOPPED -> healed(stopReplica(began, fault, ground.shards().get(picked)));
          case DISK_FULL, MEMORY_FULL -> healed(runShort(began, fault));
          default -> {
            ProxiedServer server = ground.part(picked);
            yield healed(fault.kind().onServer().play(server, fault.millis(), fault.replies()));
          }
        };
    int whose = isOfAll ? -1 : victim;
    played.add(new Played(fault.kind(), whose, part, began, System.nanoTime(), hits));
    noteTakeovers();
    if (killedAt.containsKey(victim)) {
      clients.set(picked, start(victim + WORKERS));
    }
  }

  /**
   * Tries to stop it while it is inside of a lock, and a few times also while others go on: one
   * that stands in the middle of a transaction stops them all.
   */
  private boolean stopInside(Child child, int jvm) {
    int stalls = 0;
    child.pause();
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      if (referee.isInside(jvm)) {
        if (stalls == MOST_STALLS || othersGoOn()) {
          return true;
        }
        stalls++;
      }
      child.resume();
      sleep(AIM_MILLIS + 2L * tries); // longer and longer: on a starved machine it gets nowhere
      child.pause();
    }
    return referee.isInside(jvm);
  }

  /** Of all workers that see it, an hour ahead or back and again as it was; both are jumps. */
  private int moveClocks(int jvm, Fault fault) {
    int before = Pulse.jumps(folder, jvm);
    ClockLibrary.move(clock, CLOCK_MOVES.multipliedBy(fault.replies() % 2 == 0 ? 1 : -1));
    sleep(fault.millis());
    awaitJump(jvm, before);
    int there = Pulse.jumps(folder, jvm);
    ClockLibrary.move(clock, Duration.ZERO);
    awaitJump(jvm, there);
    return Pulse.jumps(folder, jvm) - before;
  }

  private int healed(int hits) {
    ground.rest().awaitHealthy();
    return hits;
  }

  /** Until the store has failed a request. */
  private int stopReplica(long began, Fault fault, Shard shard) {
    ProxiedServer replica = shard.replica();
    replica.server().pause();
    try {
      return RefusedWrites.awaitFelt(fault.millis(), () -> failedSince(began));
    } finally {
      replica.server().resume();
    }
  }

  /** Until the store has failed a request. */
  private int runShort(long began, Fault fault) {
    Shortage shortage =
        Objects.requireNonNull(ground.rest().shortages().get(fault.kind()), "of something else");
    shortage.begin().run();
    try {
      return RefusedWrites.awaitFelt(fault.millis(), () -> failedSince(began));
    } finally {
      shortage.end().run();
    }
  }

  private int refuseWrites(long began, Fault fault) {
    clients.forEach(Client::awaitReady); // one that starts maps files
    return RefusedWrites.play(
        clients.stream().map(Client::process).toList(), fault.millis(), () -> failedSince(began));
  }

  /** Returns how many leases and waits there are. */
  private int underWay() {
    return clients.stream().mapToInt(client -> Notebook.of(folder, client.jvm()).open()).sum();
  }

  private int failedSince(long began) {
    return clients.stream()
        .mapToInt(client -> Notebook.of(folder, client.jvm()).failedSince(began))
        .sum();
  }

  private void awaitJump(int jvm, int before) {
    long giveUpAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOCK_SEEN_MILLIS);
    while (Pulse.jumps(folder, jvm) == before && System.nanoTime() - giveUpAt < 0) {
      sleep(AIM_MILLIS);
    }
  }

  private boolean othersGoOn() {
    long before = referee.entries();
    long giveUpAt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(order.leaseMillis() / 2);
    while (referee.entries() == before && System.nanoTime() - giveUpAt < 0) {
      sleep(AIM_MILLIS);
    }
    return referee.entries() != before;
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ChaosException("interrupted", e);
    }
  }

  /** Whether each lock can be had now that all who used them are gone. */
  private List<String> probe() throws InterruptedException {
    List<String> stuck = new ArrayList<>();
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(order.leaseMillis()));
    try (Pawl pawl = Stocks.connect(ground.ownAddress(), PawlOptions.defaults())) {
      for (Subject subject : Subject.values()) {
        if (subject.kind == Subject.Kind.PERMITS && !order.store().hasPermits()) {
          continue;
        }
        long from = System.nanoTime();
        try {
          Optional<Lease> lease =
              subject.kind == Subject.Kind.PERMITS
                  ? pawl.semaphore(subject.lock(), Subject.CAPACITY)
                      .tryAcquire(Subject.CAPACITY, PROBE)
                  : pawl.lock(subject.lock(), options).tryAcquire(PROBE);
          if (lease.isEmpty()) {
            stuck.add(
                subject.lock()
                    + " was not free "
                    + (System.nanoTime() - from) / 1_000_000
                    + " ms after the last worker had ended: "
                    + pawl.inspect(subject.lock()));
          }
          lease.ifPresent(Lease::close);
        } catch (StoreException e) {
          stuck.add(subject.lock() + " cannot be asked for after the run: " + e);
        }
      }
    }
    return stuck;
  }
}
