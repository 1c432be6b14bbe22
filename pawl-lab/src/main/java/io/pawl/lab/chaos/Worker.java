package io.pawl.lab.chaos;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Pawl;
import io.pawl.error.PawlException;
import io.pawl.error.StoreException;
import io.pawl.lab.chaos.Stocks.Counted;
import io.pawl.lab.chaos.rival.Database;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.sql.SqlStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A worker JVM: threads that use locks and counters through two clients of one store, and one that
 * opens clients and closes them while bodies run; until a line is heard or whoever started this is
 * gone.
 */
final class Worker {

  private static final int CLIENTS = 2;
  private static final int REST_MILLIS = 15;
  private static final int REST_AFTER_FAILURE_MILLIS = 50;
  private static final int WARM_UP_TIMES = 5;
  private static final int OPEN_SECONDS = 60;
  private static final int END_SECONDS = 60;
  private static final int CALLBACK_SECONDS = 5;
  private static final Duration GRACE = Duration.ofMillis(200);

  private final Order order;
  private final Referee referee;
  private final Notebook notebook;
  private final TakeNotes takes;
  private final LockOptions options;
  private volatile boolean ending;

  /**
   * What a worker is told on its command line.
   *
   * @param jvm its number, used once
   * @param permits whether the store serves semaphores
   * @param counted whether the store has counters that answer one after another when they refuse
   */
  record Order(
      Library library,
      String address,
      Path folder,
      int jvm,
      long seed,
      long leaseMillis,
      boolean permits,
      Counting counted) {

    List<String> toArguments() {
      return List.of(
          library.name(),
          address,
          folder.toString(),
          Integer.toString(jvm),
          Long.toString(seed),
          Long.toString(leaseMillis),
          Boolean.toString(permits),
          counted.name());
    }

    static Order parse(String[] words) {
      return new Order(
          Library.valueOf(words[0]),
          words[1],
          Path.of(words[2]),
          Integer.parseInt(words[3]),
          Long.parseLong(words[4]),
          Long.parseLong(words[5]),
          Boolean.parseBoolean(words[6]),
          Counting.valueOf(words[7]));
    }
  }

  /** Which counters are used. */
  enum Counting {
    NONE,
    PLENTY,
    ALL
  }

  private Worker(Order order) {
    this.order = order;
    this.referee = Referee.in(order.folder());
    this.notebook = Notebook.of(order.folder(), order.jvm());
    this.takes = TakeNotes.of(order.folder(), order.jvm());
    this.options =
        LockOptions.defaults()
            .lease(Duration.ofMillis(order.leaseMillis()))
            .note("JVM " + order.jvm());
  }

  public static void main(String[] arguments) {
    int status = 0;
    try {
      new Worker(Order.parse(arguments)).run();
    } catch (Exception e) {
      e.printStackTrace();
      status = 1;
    }
    System.exit(status);
  }

  /**
   * The store may be away just now.
   *
   * @param pool the application's, by which a database is used; null for connections of our own
   */
  private Pawl connect(@Nullable DataSource pool) throws InterruptedException {
    Duration patience = Duration.ofMillis(order.jvm() % 2 == 0 ? 5_000 : 1_000);
    PawlOptions its = PawlOptions.defaults().patience(patience).shutdownGrace(GRACE);
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(OPEN_SECONDS);
    while (true) {
      try {
        return pool == null
            ? Pawl.connect(order.address(), its)
            : Pawl.over(SqlStore.over(pool), its);
      } catch (StoreException e) {
        if (System.nanoTime() - giveUpAt > 0) {
          throw e;
        }
        Thread.sleep(REST_AFTER_FAILURE_MILLIS);
      }
    }
  }

  /** So that the first waits that count are not for classes to be loaded. */
  private void warmUp(Pawl pawl) throws InterruptedException {
    String name = "chaos-warm-up-" + order.jvm();
    for (int times = 0; times < WARM_UP_TIMES; times++) {
      try {
        pawl.lock(name, options).acquire().close();
        pawl.lockAll(List.of(name, name + "-too"), options).acquire().close();
      } catch (PawlException e) {
        Thread.sleep(REST_AFTER_FAILURE_MILLIS); // the store may be away just now
      }
    }
  }

  private interface Turn {
    void take(Random random) throws InterruptedException;
  }

  private void run() throws Exception {
    Pulse.ofProcessors(order.folder(), order.jvm(), order.leaseMillis() / 4);
    List<Thread> threads = new ArrayList<>();
    List<AutoCloseable> clients = new ArrayList<>();
    List<Thread> interrupters = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      Interrupter interrupter = new Interrupter(random(100 + client));
      interrupters.add(new Thread(interrupter, "interrupter-" + client));
      for (Turn turn : turns(client, interrupter, clients)) {
        threads.add(thread(threads.size(), turn));
      }
    }
    if (!order.library().isRival()) {
      threads.add(thread(threads.size(), this::closeWhileBodiesRun));
    }
    interrupters.forEach(thread -> thread.setDaemon(true));
    interrupters.forEach(Thread::start);
    threads.forEach(Thread::start);
    System.out.println(ChaosRun.READY);
    System.in.read();
    ending = true;
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
    for (Thread thread : threads) {
      thread.join(Math.max(1, (giveUpAt - System.nanoTime()) / 1_000_000));
      if (thread.isAlive() && order.library().isRival()) {
        thread.interrupt(); // its wait was written down, and is judged
        thread.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
      }
      if (thread.isAlive()) {
        IllegalStateException stuck =
            new IllegalStateException(thread + " does not come to an end");
        stuck.setStackTrace(thread.getStackTrace());
        throw stuck;
      }
    }
    interrupters.forEach(Thread::interrupt);
    for (AutoCloseable client : clients) {
      client.close();
    }
    awaitCallbacks();
  }

  /**
   * @param clients to which its own client is added
   */
  private List<Turn> turns(int client, Interrupter interrupter, List<AutoCloseable> clients)
      throws InterruptedException {
    if (order.library().isRival()) {
      RivalPlayers players =
          RivalPlayers.open(
              order.library().rival(), order.address(), referee, notebook, order.leaseMillis());
      clients.add(players);
      return turns(players, interrupter);
    }
    HikariDataSource pool = client == 1 ? poolOfOne() : null;
    Pawl pawl = connect(pool);
    clients.add(pawl);
    if (pool != null) {
      clients.add(pool);
    }
    warmUp(pawl);
    return turns(new Players(pawl, referee, notebook, options), client, interrupter);
  }

  private @Nullable HikariDataSource poolOfOne() {
    String address = order.address();
    return address.startsWith(Database.SCHEME)
        ? Database.pool(address, order.leaseMillis(), 1)
        : null;
  }

  private List<Turn> turns(RivalPlayers players, Interrupter interrupter) {
    List<Turn> turns = new ArrayList<>();
    for (Subject subject : RivalPlayers.SUBJECTS) {
      turns.add(random -> players.tryFor(subject, random));
      if (order.library().rival().canWait()) {
        turns.add(random -> players.acquire(subject, random));
        turns.add(random -> players.interrupted(subject, random, interrupter));
      }
    }
    return turns;
  }

  /** Whoever was told of a loss by an exception may be told by its callback a moment later. */
  private void awaitCallbacks() throws InterruptedException {
    long giveUpAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(CALLBACK_SECONDS);
    for (int number = 0; number < notebook.pages(); number++) {
      Notebook.Page page = notebook.page(number);
      while (page.end() == Notebook.End.LOST
          && page.get(Notebook.Line.TOLD) == 0
          && System.nanoTime() - giveUpAt < 0) {
        Thread.sleep(1);
      }
    }
  }

  private List<Turn> turns(Players players, int client, Interrupter interrupter) {
    List<Turn> turns = new ArrayList<>();
    if (client == 0) {
      turns.add(random -> players.acquire(Subject.DEFAULT, random));
      turns.add(random -> players.acquire(Subject.STRICT, random));
      turns.add(random -> players.interrupted(Subject.DEFAULT, random, interrupter));
      turns.add(players::writer);
      turns.add(players::group);
    } else {
      turns.add(random -> players.tryFor(Subject.DEFAULT, random));
      turns.add(random -> players.chain(Subject.ASYNC, 4, random));
      turns.add(random -> players.interrupted(Subject.STRICT, random, interrupter));
      turns.add(players::reader);
      turns.add(players::job);
      turns.add(players::election);
      turns.add(random -> players.tryFor(Subject.GROUP_TWO, random));
    }
    if (order.permits()) {
      turns.add(players::permits);
    }
    if (order.counted() != Counting.NONE) {
      turns.add(random -> players.take(takes, counted(random), random));
    }
    return turns;
  }

  private Counted counted(Random random) {
    boolean isScarce = order.counted() == Counting.ALL && random.nextInt(3) == 0;
    return isScarce ? Counted.SCARCE : Counted.PLENTY;
  }

  private Random random(int thread) {
    return new Random(order.seed() * 1_000_003 + order.jvm() * 1_009L + thread);
  }

  private Thread thread(int number, Turn turn) {
    Random random = random(number);
    return new Thread(
        () -> {
          try {
            while (!ending) {
              turn.take(random);
              if (ending) {
                return; // its interrupt, if it had one, was for the wait
              }
              Thread.sleep(1 + random.nextInt(REST_MILLIS));
            }
          } catch (InterruptedException | RuntimeException | Error e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
          }
        },
        "player-" + number);
  }

  /**
   * Bodies of all lengths are under way when their client closes, some for longer than it waits.
   */
  private void closeWhileBodiesRun(Random random) throws InterruptedException {
    List<CompletionStage<Void>> bodies = new ArrayList<>();
    try (Pawl pawl = connect(null)) {
      Players players = new Players(pawl, referee, notebook, options);
      for (int body = 0; body < 3; body++) {
        bodies.add(players.link(Subject.CLOSING, Shape.CLOSING, 20 + random.nextInt(400)));
      }
      Thread.sleep(random.nextInt(200));
      pawl.close(Duration.ofMillis(random.nextInt((int) GRACE.toMillis())));
    }
    for (CompletionStage<Void> body : bodies) {
      body.toCompletableFuture().join();
    }
    Thread.sleep(random.nextInt(500));
  }
}
