package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A network between store and database that resets, swallows and keeps silent. */
class NetworkFaultsTest {

  /** What commits by itself; and is part of no other statement. */
  private static final String SHORTCUT = "UPDATE pawl_lock";

  private static final AtomicInteger names = new AtomicInteger();
  private static final PawlOptions PATIENT = PawlOptions.defaults().patience(Duration.ofMinutes(1));
  private static final LockOptions STEADY = LockOptions.defaults().lease(Duration.ofMinutes(5));

  private final String name = "network-" + names.incrementAndGet();

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aConnectionLostAtCommitIsResolvedByTheClaimsId(TestDatabase database) throws Exception {
    for (AfterDrop then : AfterDrop.values()) {
      String lock = name + then;
      try (FaultProxy proxy = FaultProxy.before(database.server());
          Pawl pawl = Pawl.connect(database.urlThrough(proxy), PATIENT);
          Pawl other = Pawl.connect(database.url())) {
        long before = token(other, lock);
        proxy.dropCommits(1, then);
        Lease lease = pawl.lock(lock, STEADY).acquire();
        assertThat(proxy.droppedReplies()).isEqualTo(1);
        assertThat(lease.token()).as("granted once").isEqualTo(before + 1);
        assertThat(other.lock(lock).tryAcquire()).isEmpty();

        proxy.dropReplies(1, then);
        lease.close();
        assertThat(proxy.droppedReplies()).isEqualTo(2);
        assertThat(token(other, lock)).as("given back").isEqualTo(before + 2);
      }
    }
  }

  /** In the middle of the lock's row. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aReleaseWhoseAnswerBreaksOffIsAskedAgain(TestDatabase database) throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Pawl pawl = Pawl.connect(database.urlThrough(proxy), PATIENT);
        Pawl other = Pawl.connect(database.url());
        SqlStore store = database.open()) {
      Lease held = pawl.lock(name, STEADY).acquire();
      CompletableFuture<Lease> next = other.lock(name, STEADY).acquireAsync();
      Stored.awaitWaiters(store, name, 1);

      proxy.breakOffReply("leaseMillis", "FOR UPDATE");
      held.close();

      assertThat(proxy.droppedReplies()).isEqualTo(1);
      next.get(60, SECONDS).close();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aConnectionLostAsAClaimJoinsLeavesItOnePlace(TestDatabase database) throws Exception {
    String polling = database == TestDatabase.POSTGRES ? "&pawl.listen=false" : "";
    for (AfterDrop then : AfterDrop.values()) {
      String lock = name + then;
      try (FaultProxy proxy = FaultProxy.before(database.server());
          Pawl pawl = Pawl.connect(database.urlThrough(proxy) + polling, PATIENT);
          Pawl other = Pawl.connect(database.url());
          SqlStore store = database.open()) {
        Lease held = other.lock(lock, STEADY).acquire();
        assertThat(pawl.lock(lock, STEADY).tryAcquire()).isEmpty();

        proxy.dropReplies(1, then, "INSERT INTO pawl_waiter");
        CompletableFuture<Lease> waiting = pawl.lock(lock, STEADY).acquireAsync();
        Stored.awaitWaiters(store, lock, 1);
        assertThat(proxy.droppedReplies()).isEqualTo(1);
        held.close();
        try (Lease lease = waiting.get(60, SECONDS)) {
          assertThat(lease.token()).as("granted once").isEqualTo(held.token() + 1);
        }
        Stored.awaitWaiters(store, lock, 0);
      }
    }
  }

  /**
   * It may still be on its way, and arrive when its claim has come and gone; so its withdrawal has
   * to be remembered.
   */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aJoinWithoutAnAnswerIsNeverRepeatedUnnoticed(TestDatabase database) throws Exception {
    String polling = database == TestDatabase.POSTGRES ? "&pawl.listen=false" : "";
    try (FaultProxy proxy = FaultProxy.before(database.server());
        SqlStore store =
            (SqlStore) Stores.open(StoreUrl.parse(database.urlThrough(proxy) + polling))) {
      for (int i = 0; i < 2; i++) { // the second knows that the lock is busy
        store.attempt(Claims.claim(name), bell -> {}).toCompletableFuture().get(60, SECONDS);
      }
      proxy.dropReplies(1, AfterDrop.RESET, "INSERT INTO pawl_waiter");

      assertThatThrownBy(
              () ->
                  store
                      .attempt(Claims.claim(name), bell -> {})
                      .toCompletableFuture()
                      .get(60, SECONDS))
          .hasCauseInstanceOf(StoreUnavailableException.class)
          .cause()
          .satisfies(e -> assertThat(((StoreUnavailableException) e).isUnsent()).isFalse());
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aConnectionLostInAShortcutIsResolvedByTheClaimsId(TestDatabase database) throws Exception {
    for (AfterDrop then : AfterDrop.values()) {
      String lock = name + then;
      try (FaultProxy proxy = FaultProxy.before(database.server());
          Pawl pawl = Pawl.connect(database.urlThrough(proxy), PATIENT);
          Pawl other = Pawl.connect(database.url())) {
        Lease first = pawl.lock(lock + "-back", STEADY).acquire();
        proxy.dropReplies(1, then, SHORTCUT);
        first.close();
        assertThat(proxy.droppedReplies()).isEqualTo(1);
        assertThat(token(other, lock + "-back")).isEqualTo(first.token() + 1);

        long taken = token(pawl, lock + "-take");
        proxy.dropReplies(1, then, SHORTCUT);
        Lease lease = pawl.lock(lock + "-take", STEADY).acquire();
        assertThat(proxy.droppedReplies()).isEqualTo(2);
        assertThat(lease.token()).as("granted once").isEqualTo(taken + 1);
        assertThat(other.lock(lock + "-take").tryAcquire()).isEmpty();
        lease.close();
        assertThat(token(other, lock + "-take")).isEqualTo(taken + 2);
      }
    }
  }

  /** The guess is wrong for one of two locks, and then nobody can be asked what became of it. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aShortcutThatWasAppliedInPartIsInDoubtWhereTheConnectionIsLostNext(TestDatabase database)
      throws Exception {
    List<Claim> claims = List.of(Claims.claim(name + "-a"), Claims.claim(name + "-b"));
    try (FaultProxy proxy = FaultProxy.before(database.server());
        SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(database.urlThrough(proxy)));
        SqlStore other = database.open()) {
      for (Claim next : claims) {
        Claim before = Claims.claim(next.lock());
        store.attempt(before, bell -> {}).toCompletableFuture().get(60, SECONDS);
        store.withdraw(before).toCompletableFuture().get(60, SECONDS);
      }
      Claim intruder = Claims.claim(name + "-b");
      other.attempt(intruder, bell -> {}).toCompletableFuture().get(60, SECONDS);
      proxy.refuse();
      proxy.dropReplies(1, AfterDrop.RESET, "ORDER BY lock_name, position");

      List<CompletableFuture<Standing>> answers = new ArrayList<>();
      store.together(
          () ->
              claims.forEach(
                  claim -> answers.add(store.attempt(claim, bell -> {}).toCompletableFuture())));

      for (CompletableFuture<Standing> answer : answers) {
        assertThatThrownBy(() -> answer.get(60, SECONDS))
            .cause()
            .isInstanceOfSatisfying(
                StoreUnavailableException.class, e -> assertThat(e.isUnsent()).isFalse());
      }
      assertThat(Stored.show(other, name + "-a").holders())
          .extracting(ClaimView::id)
          .containsExactly(claims.get(0).id());
    }
  }

  private static long token(Pawl pawl, String lock) throws InterruptedException {
    try (Lease lease = pawl.lock(lock).tryAcquire(Duration.ofSeconds(60)).orElseThrow()) {
      return lease.token();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void everyCallReturnsFromABlackHoleAndTheNextOnesWork(TestDatabase database) throws Exception {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ZERO);
    for (Direction direction : Direction.values()) {
      try (FaultProxy proxy = FaultProxy.before(database.server());
          Pawl pawl = Pawl.connect(database.urlThrough(proxy), impatient)) {
        pawl.lock(name).acquire().close();
        proxy.blackHole(direction);
        assertThatThrownBy(() -> pawl.lock(name).tryAcquire())
            .isInstanceOf(StoreUnavailableException.class);
        proxy.heal();
        CompletableFuture<Optional<Lease>> next =
            pawl.lock(name + direction).tryAcquireAsync(Duration.ofSeconds(30));
        assertThat(next.get(60, SECONDS)).isPresent();
      }
    }
  }

  /** Whose connections have no time-out, and were opened when all was well. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void everyCallOverAPoolReturnsFromABlackHole(TestDatabase database) throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Connection warm = DriverManager.getConnection(database.urlThrough(proxy));
        SqlStore store = SqlStore.over(lending(warm))) {
      proxy.blackHole(Direction.TO_SERVER);
      assertFailsAsUnavailable(store.attempt(Claims.claim(name), bell -> {}), proxy);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aStoreOverAPoolIsNotOpenedThroughABlackHoleAndSaysSo(TestDatabase database)
      throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Connection warm = DriverManager.getConnection(database.urlThrough(proxy))) {
      proxy.blackHole(Direction.TO_SERVER);
      assertFailsAsUnavailable(
          CompletableFuture.supplyAsync(() -> SqlStore.over(lending(warm))), proxy);
    }
  }

  private static void assertFailsAsUnavailable(CompletionStage<?> answer, FaultProxy proxy) {
    try {
      assertThat(answer)
          .failsWithin(Duration.ofMinutes(1))
          .withThrowableThat()
          .withCauseInstanceOf(StoreUnavailableException.class);
    } finally {
      proxy.reset(); // else whoever still waits keeps the connection from being closed
    }
  }

  private static DataSource lending(Connection warm) {
    Connection lent =
        proxy(
            Connection.class,
            (self, method, arguments) -> {
              try {
                return method.getName().equals("close") ? null : method.invoke(warm, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
    return proxy(DataSource.class, (self, method, arguments) -> lent);
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  /** Its driver gives up a connection where the thread that waits for it is interrupted. */
  @Test
  void anInterruptWhileAConnectionIsOpenedFailsNobodysRequest() throws Exception {
    TestDatabase database = TestDatabase.POSTGRES;
    try (FaultProxy proxy = FaultProxy.before(database.server());
        SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(database.urlThrough(proxy)))) {
      List<CompletableFuture<Standing>> answers = new ArrayList<>();
      CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
      Thread caller =
          new Thread(
              () -> {
                store.together(
                    () -> {
                      for (String lock : List.of(name + "-a", name + "-b")) {
                        answers.add(
                            store.attempt(Claims.claim(lock), bell -> {}).toCompletableFuture());
                      }
                    });
                interrupted.complete(Thread.currentThread().isInterrupted());
              });
      proxy.cut();
      proxy.reset();
      caller.start();
      await().atMost(Duration.ofMinutes(1)).until(() -> waitsForAConnection(caller));

      caller.interrupt();
      proxy.heal();

      assertThat(interrupted.get(60, SECONDS)).as("kept for the caller").isTrue();
      for (CompletableFuture<Standing> answer : answers) {
        assertThat(answer.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      }
    }
  }

  private static boolean waitsForAConnection(Thread thread) {
    return thread.getState() == Thread.State.TIMED_WAITING
        && Stream.of(thread.getStackTrace())
            .anyMatch(frame -> frame.getClassName().equals("org.postgresql.Driver"));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void connectionsThatWereResetWhileIdleAreReplacedUnseen(TestDatabase database) throws Exception {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ZERO);
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Pawl pawl = Pawl.connect(database.urlThrough(proxy), impatient)) {
      for (int i = 0; i < 5; i++) {
        proxy.reset();
        pawl.lock(name).acquire().close();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aWaiterIsServedAlthoughItsBellsConnectionsAreReset(TestDatabase database) throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Pawl waiting = Pawl.connect(database.urlThrough(proxy), PATIENT);
        Pawl holding = Pawl.connect(database.url());
        SqlStore looking = database.open()) {
      Lease lease = holding.lock(name).acquire();
      CompletableFuture<Optional<Lease>> next =
          waiting.lock(name).tryAcquireAsync(Duration.ofSeconds(60));
      Stored.awaitWaiters(looking, name, 1);
      proxy.reset();
      lease.close();
      assertThat(next.get(60, SECONDS)).isPresent();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aHolderCutOffForLongerThanItsLeaseLosesIt(TestDatabase database) throws Exception {
    LockOptions brief = LockOptions.defaults().lease(Duration.ofSeconds(1));
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Pawl pawl = Pawl.connect(database.urlThrough(proxy), PATIENT);
        Pawl other = Pawl.connect(database.url())) {
      Lease lease = pawl.lock(name, brief).acquire();
      CompletableFuture<Boolean> lost = new CompletableFuture<>();
      lease.onLost(() -> lost.complete(lease.isValid()));
      proxy.cut();
      Lease next = other.lock(name).tryAcquire(Duration.ofSeconds(60)).orElseThrow();
      assertThat(lost.get(60, SECONDS)).isFalse();
      assertThat(next.token()).isGreaterThan(lease.token());
      proxy.heal();
      next.close();
      assertThat(pawl.lock(name, brief).tryAcquire(Duration.ofSeconds(60))).isPresent();
      assertThatThrownBy(lease::close).isInstanceOf(io.pawl.error.LeaseLostException.class);
    }
  }
}
