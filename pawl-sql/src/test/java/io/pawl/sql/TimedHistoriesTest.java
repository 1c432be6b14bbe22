package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import io.pawl.sql.dialect.HostClock;
import io.pawl.sql.dialect.SqliteDialect;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two clients of a file and the {@link GrantRule} go through the same random histories under a
 * clock that the test moves, and agree on every answer and on who holds and waits since and until
 * when: leases, shortest holds and withdrawn claims end at their time. {@link LockHistoriesTest}
 * has the other databases, whose clocks nobody moves.
 */
class TimedHistoriesTest {

  private static final int STEPS = 1000;
  private static final long NO_TOKEN = 1L << 53;

  @TempDir private Path folder;

  private final AtomicLong clock = new AtomicLong(1_800_000_000_000L);
  private final Map<String, LockState> models = new LinkedHashMap<>();
  private final List<Claim> claims = new ArrayList<>();
  private Random random = new Random();
  private SqlStore store;
  private long number;

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void p1_oneHolder_theDatabaseEndsWhatEndsByTheGrantRule(long seed) throws Exception {
    random = new Random(seed);
    try (SqlStore here = open();
        SqlStore there = open()) {
      for (int i = 0; i < STEPS; i++) {
        store = random.nextInt(4) > 0 ? here : there;
        step();
      }
    }
  }

  private SqlStore open() {
    HostClock host = new HostClock("boot", clock::get, clock::get);
    return SqlStore.open(new SqliteDialect(folder.resolve("locks.db"), host).database());
  }

  private void step() throws Exception {
    int dice = random.nextInt(100);
    if (dice < 30 || claims.isEmpty()) {
      newcomers();
    } else if (dice < 40) {
      again(known());
    } else if (dice < 60) {
      renew();
    } else if (dice < 82) {
      withdraw(known());
    } else if (dice < 84) {
      LockState model = model(known().lock());
      evict(
          model.lock(),
          model.holders().stream().findFirst().map(LockState.Entry::token).orElse(NO_TOKEN));
    } else if (dice < 87) {
      setKind(known().lock());
    } else {
      clock.addAndGet(random.nextInt(random.nextInt(3) > 0 ? 20 : 1500));
    }
  }

  private long now() {
    return clock.get();
  }

  private LockState model(String lock) {
    return models.computeIfAbsent(lock, name -> new LockState(name, 0));
  }

  private Claim known() {
    return claims.get(claims.size() - 1 - random.nextInt(Math.min(claims.size(), 40)));
  }

  private Claim fresh() {
    String lock = "lock" + random.nextInt(4);
    Kind kind = model(lock).kind();
    boolean any = kind == null || random.nextInt(10) == 0;
    Claim claim =
        new Claim(
            lock,
            new ClaimId("client", number++),
            mode(any ? random.nextInt(4) : kind.isSemaphore() ? kind.capacity() : 0),
            Duration.ofMillis(random.nextInt(3) == 0 ? 20_500 : 100 + random.nextInt(3000)),
            Duration.ofMillis(random.nextInt(4) == 0 ? random.nextInt(4000) : 0),
            random.nextInt(10) > 0,
            1 + random.nextInt(100),
            random.nextInt(10) == 0 ? random.nextInt(100_000) : 0,
            false,
            new Holder("host", random.nextInt(2), "thread", random.nextBoolean() ? "" : "a", ""));
    claims.add(claim);
    return claim;
  }

  private Mode mode(int capacity) {
    if (capacity > 0) {
      return new Mode.Permits(1 + random.nextInt(capacity), capacity);
    }
    return random.nextInt(3) == 0 ? Mode.SHARED : Mode.EXCLUSIVE;
  }

  /** In one transaction, some given back at once. */
  private void newcomers() throws Exception {
    List<Claim> asked = new ArrayList<>();
    List<Standing> expected = new ArrayList<>();
    List<CompletionStage<Standing>> found = new ArrayList<>();
    List<CompletionStage<Void>> gone = new ArrayList<>();
    int size = 1 + random.nextInt(random.nextInt(4) == 0 ? 40 : 3);
    store.together(
        () -> {
          for (int i = 0; i < size; i++) {
            Claim claim = fresh();
            asked.add(claim);
            expected.add(GrantRule.attempt(model(claim.lock()), claim, now()));
            found.add(store.attempt(claim, standing -> {}));
            if (random.nextInt(5) == 0) {
              Claim left = random.nextInt(3) == 0 ? claim.asUnsettled() : claim;
              GrantRule.withdraw(model(claim.lock()), left, now());
              gone.add(store.withdraw(left));
            }
          }
        });
    for (int i = 0; i < size; i++) {
      assertThat(answer(found.get(i))).as("%s", asked.get(i)).isEqualTo(expected.get(i));
    }
    for (CompletionStage<Void> each : gone) {
      answer(each);
    }
    agree(asked);
  }

  /**
   * A repetition, a late one, a downgrade. Ends first what has ended: a waiter that ran out and
   * comes back before anybody has changed its lock keeps its place in the database.
   */
  private void again(Claim known) throws Exception {
    evict(known.lock(), NO_TOKEN);
    boolean downgrades = known.mode() instanceof Mode.Exclusive && random.nextInt(3) == 0;
    Claim claim = downgrades ? known.as(Mode.SHARED) : known;
    Standing expected = GrantRule.attempt(model(claim.lock()), claim, now());
    assertThat(answer(store.attempt(claim, standing -> {}))).as("%s", claim).isEqualTo(expected);
    agree(List.of(claim));
  }

  private void renew() throws Exception {
    Map<ClaimId, Claim> some = new LinkedHashMap<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      Claim claim = known();
      some.put(claim.id(), claim);
    }
    Map<ClaimId, Standing> expected = new LinkedHashMap<>();
    some.forEach((id, claim) -> expected.put(id, GrantRule.renew(model(claim.lock()), id, now())));
    assertThat(answer(store.renew(some.values()))).isEqualTo(expected);
    agree(List.copyOf(some.values()));
  }

  private void withdraw(Claim claim) throws Exception {
    Claim used = random.nextInt(4) == 0 ? claim.withMinHold(Duration.ZERO) : claim;
    Claim gone = random.nextInt(3) == 0 ? used.asUnsettled() : used;
    GrantRule.withdraw(model(claim.lock()), gone, now());
    answer(store.withdraw(gone));
    agree(List.of(claim));
  }

  private void evict(String lock, long token) throws Exception {
    boolean expected = GrantRule.evict(model(lock), token, now());
    assertThat(answer(store.evict(lock, token))).isEqualTo(expected);
    agree(lock);
  }

  private void setKind(String lock) throws Exception {
    Kind kind = new Kind(random.nextInt(4));
    boolean expected = GrantRule.setKind(model(lock), kind, now());
    assertThat(answer(store.setKind(lock, kind))).isEqualTo(expected);
    agree(lock);
  }

  private void agree(List<Claim> about) throws Exception {
    for (Claim claim : about) {
      agree(claim.lock());
    }
  }

  private void agree(String lock) throws Exception {
    LockState model = model(lock);
    GrantRule.settle(model, now());
    LockView unknown = new LockState(lock, 0).view(0);
    assertThat(answer(store.show(lock)).orElse(unknown)).isEqualTo(model.view(0));
  }

  private static <T> T answer(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(60, SECONDS);
  }
}
