package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import io.pawl.spi.rule.LockState.Entry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The scripts and {@link GrantRule} go through the same random histories, under a clock that the
 * test moves, and must agree on every standing, every grant, the order of tokens, and who holds and
 * waits since and until when.
 */
class DifferentialTest {

  private static final int STEPS = 2000;
  private static final Holder NOBODY = new Holder("host", 1, "thread", "", "");

  /** A claim can be granted again after it ran out; the model's token tells which time it was. */
  private record Grant(ClaimId id, long modelToken) {}

  /** Two clients whose store objects differ, so that grants come by reply and by message. */
  private final List<RedisStore> stores = new ArrayList<>();

  private final Map<String, LockState> models = new HashMap<>();
  private final Map<String, Long> lastTokens = new HashMap<>();
  private final Map<Grant, Standing.Held> grants = new HashMap<>();
  private final Map<ClaimId, Standing.Held> rung = new ConcurrentHashMap<>();
  private final List<Claim> claims = new ArrayList<>();
  private Random random = new Random();
  private RedisServer server;
  private boolean unheard;
  private long number;
  private long nowMicros;

  @ParameterizedTest
  @CsvSource({"REDIS,1", "REDIS,2", "REDIS,3", "VALKEY,4", "VALKEY,5"})
  void scriptsDecideAsTheGrantRuleDoes(Flavour flavour, long seed) {
    random = new Random(seed);
    try (RedisServer started = RedisServer.setup().flavour(flavour).start()) {
      server = started;
      nowMicros = (System.currentTimeMillis() + 86_400_000) * 1000;
      tick(0);
      try (RedisStore one = TestClock.store(server);
          RedisStore two = TestClock.store(server)) {
        stores.add(one);
        stores.add(two);
        listenFirst();
        for (int i = 0; i < STEPS; i++) {
          step();
        }
      }
    }
  }

  /** A store that has just subscribed asks for all its waiters, which keeps them alive. */
  private void listenFirst() {
    for (int i = 0; i < 2; i++) {
      Claim holder = claim("warm", 1 - i, Mode.EXCLUSIVE, true).withMinHold(Duration.ZERO);
      Claim waiter = claim("warm", i, Mode.EXCLUSIVE, true).withMinHold(Duration.ZERO);
      answer(storeOf(holder).attempt(holder, standing -> {}));
      answer(storeOf(waiter).attempt(waiter, standing -> rung(waiter, standing)));
      answer(storeOf(holder).withdraw(holder));
      await().until(() -> rung.remove(waiter.id()) != null);
      answer(storeOf(waiter).withdraw(waiter));
    }
  }

  private void step() {
    int dice = random.nextInt(100);
    if (dice < 35 || claims.isEmpty()) {
      attempt(newClaim());
    } else if (dice < 45) {
      attempt(random.nextInt(3) == 0 ? asReader(anyClaim()) : anyClaim());
    } else if (dice < 60) {
      renew();
    } else if (dice < 85) {
      Claim claim = random.nextBoolean() ? anyHolder() : anyClaim();
      Claim gone = mayBeUsed(claim) ? claim : claim.withMinHold(Duration.ZERO);
      withdraw(mayBeUnsettled(claim) && random.nextBoolean() ? gone.asUnsettled() : gone);
    } else if (dice < 87) {
      evict(anyClaim().lock());
    } else if (dice < 90) {
      setKind(anyClaim().lock());
    } else if (dice < 93) {
      burst();
    } else {
      tick(random.nextInt(random.nextBoolean() ? 20 : random.nextInt(10) == 0 ? 15_000 : 1500));
    }
  }

  /** A lock of exclusive claims alone, which has short cuts; lock4 has a short line besides. */
  private static boolean isPlain(String lock) {
    return lock.equals("lock3") || lock.equals("lock4");
  }

  /** Where no withdrawal is remembered, a lock is idle now and then. */
  private static boolean mayBeUnsettled(Claim claim) {
    return claim.lock().equals("lock1") || claim.lock().equals("lock3");
  }

  /** Some owe no shortest hold at their end, since nobody has worked under them. */
  private static boolean mayBeUsed(Claim claim) {
    return claim.id().number() % 4 > 0;
  }

  private Claim newClaim() {
    String lock = "lock" + random.nextInt(5);
    Kind kind = model(lock).kind();
    Mode mode =
        isPlain(lock)
            ? Mode.EXCLUSIVE
            : kind == null || random.nextInt(10) == 0 ? anyMode(random.nextInt(4)) : modeFor(kind);
    boolean queues = random.nextInt(lock.equals("lock4") ? 2 : 10) > 0;
    Claim claim = claim(lock, random.nextInt(2), mode, queues);
    claims.add(claim);
    return claim;
  }

  private Mode modeFor(Kind kind) {
    return kind.isSemaphore() ? anyMode(kind.capacity()) : anyMode(0);
  }

  private Mode anyMode(int capacity) {
    if (capacity > 0) {
      return new Mode.Permits(1 + random.nextInt(capacity), capacity);
    }
    return random.nextBoolean() ? Mode.SHARED : Mode.EXCLUSIVE;
  }

  private static Claim asReader(Claim claim) {
    boolean exclusive = claim.mode() == Mode.EXCLUSIVE && !isPlain(claim.lock());
    return exclusive ? claim.as(Mode.SHARED) : claim;
  }

  private Claim claim(String lock, int store, Mode mode, boolean queues) {
    ClaimId id = new ClaimId("c" + store, number++);
    boolean isLong = random.nextInt(6) == 0; // half of it is enough for a waiter
    Duration lease =
        Duration.ofMillis(isLong ? 20_000 + random.nextInt(20_000) : 100 + random.nextInt(3000));
    boolean lasts = random.nextInt(isPlain(lock) ? 8 : 3) == 0;
    Duration minHold = Duration.ofMillis(lasts ? 1 + random.nextInt(2500) : 0);
    int tokens = 1 + random.nextInt(random.nextInt(10) == 0 ? 10_000 : 200);
    return new Claim(lock, id, mode, lease, minHold, queues, tokens, 0, false, NOBODY);
  }

  /** Mostly one of the latest, so that many are still alive. */
  private Claim anyClaim() {
    int back = random.nextInt(Math.min(claims.size(), 15));
    return claims.get(claims.size() - 1 - back);
  }

  private Claim anyHolder() {
    return model("lock" + random.nextInt(5)).holders().stream()
        .findFirst()
        .map(holder -> claimOf(holder.id()))
        .orElseGet(this::anyClaim);
  }

  private void attempt(Claim claim) {
    Standing expected = GrantRule.attempt(model(claim.lock()), claim, now());
    Standing found = answer(storeOf(claim).attempt(claim, standing -> rung(claim, standing)));
    rings(claim.lock());
    agree(claim, expected, found);
    settled(claim.lock());
  }

  private void renew() {
    RedisStore store = stores.get(random.nextInt(2));
    Map<ClaimId, Claim> some = new HashMap<>();
    for (int i = random.nextInt(random.nextInt(4) == 0 ? 40 : 4); i >= 0; i--) {
      Claim claim = anyClaim();
      if (storeOf(claim) == store) {
        some.put(claim.id(), claim);
      }
    }
    List<Claim> asked = new ArrayList<>(some.values());
    Map<ClaimId, Standing> expected = new HashMap<>();
    for (Claim claim : asked) {
      expected.put(claim.id(), GrantRule.renew(model(claim.lock()), claim.id(), now()));
    }
    Map<ClaimId, Standing> found = answer(store.renew(asked));
    assertThat(found).hasSameSizeAs(expected);
    asked.forEach(claim -> rings(claim.lock()));
    for (Claim claim : asked) {
      agree(claim, expected.get(claim.id()), found.get(claim.id()));
    }
    asked.forEach(claim -> settled(claim.lock()));
  }

  private void withdraw(Claim claim) {
    GrantRule.withdraw(model(claim.lock()), claim, now());
    answer(storeOf(claim).withdraw(claim));
    for (LockState.Grant grant : model(claim.lock()).takeGrants()) {
      if (!grant.id().equals(claim.id())) {
        rings(grant);
      } else { // granted and given back in one verb: its bell was taken down before
        unheard = true;
      }
    }
    settled(claim.lock());
  }

  /**
   * Requests that do not wait for one another, and so share commands. What is granted by one of
   * them is not given back by another, since nobody knows whether its bell is heard before.
   */
  private void burst() {
    int store = random.nextInt(2);
    Set<ClaimId> asked = new HashSet<>();
    Set<ClaimId> grantedNow = new HashSet<>();
    Set<String> touched = new HashSet<>();
    List<Runnable> checks = new ArrayList<>();
    for (int i = 2 + random.nextInt(10); i > 0; i--) {
      Claim claim = random.nextInt(3) == 0 ? anyClaim() : newClaim();
      if (storeOf(claim) != stores.get(store) || !asked.add(claim.id())) {
        continue;
      }
      touched.add(claim.lock());
      LockState model = model(claim.lock());
      boolean holds = model.holders().stream().anyMatch(held -> held.id().equals(claim.id()));
      if (holds && !grantedNow.contains(claim.id()) && random.nextBoolean()) {
        GrantRule.withdraw(model, claim, now());
        CompletionStage<Void> gone = storeOf(claim).withdraw(claim);
        List<LockState.Grant> rung = model.takeGrants();
        rung.forEach(grant -> grantedNow.add(grant.id()));
        checks.add(
            () -> {
              answer(gone);
              rung.forEach(this::rings);
            });
      } else {
        Standing expected = GrantRule.attempt(model, claim, now());
        int holders = model.holders().size();
        List<LockState.Grant> rung = model.takeGrants();
        rung.forEach(grant -> grantedNow.add(grant.id()));
        CompletionStage<Standing> found =
            storeOf(claim).attempt(claim, standing -> rung(claim, standing));
        checks.add(
            () -> {
              rung.forEach(this::rings);
              agree(claim, expected, holders, answer(found));
            });
      }
    }
    checks.forEach(Runnable::run);
    touched.forEach(this::settled);
  }

  private void evict(String lock) {
    long modelToken = 1;
    long token = 1;
    for (Entry holder : model(lock).holders()) {
      modelToken = holder.lastToken();
      token = grants.get(new Grant(holder.id(), holder.token())).lastToken();
    }
    boolean expected = GrantRule.evict(model(lock), modelToken, now());
    boolean found = answer(stores.get(0).evict(lock, token));
    assertThat(found).isEqualTo(expected);
    rings(lock);
    settled(lock);
  }

  private void setKind(String lock) {
    Kind kind = isPlain(lock) ? Kind.LOCK : new Kind(random.nextInt(5));
    boolean expected = GrantRule.setKind(model(lock), kind, now());
    boolean found = answer(stores.get(random.nextInt(2)).setKind(lock, kind));
    assertThat(found).isEqualTo(expected);
    rings(lock);
    settled(lock);
  }

  private void agree(Claim claim, Standing expected, Standing found) {
    agree(claim, expected, model(claim.lock()).holders().size(), found);
  }

  private void agree(Claim claim, Standing expected, int holders, Standing found) {
    if (expected instanceof Standing.Held model) {
      assertThat(found).isInstanceOf(Standing.Held.class);
      granted(claim, model, (Standing.Held) found);
    } else if (expected instanceof Standing.Waiting model) {
      assertThat(found).isInstanceOf(Standing.Waiting.class);
      Duration ask = ((Standing.Waiting) found).askAgain();
      if (holders == 1) {
        assertThat(ask).isEqualTo(model.askAgain());
      } else {
        assertThat(ask).isPositive().isLessThanOrEqualTo(model.askAgain());
      }
    } else {
      assertThat(found).as("%s at %d", claim, now()).isEqualTo(expected);
    }
  }

  private void granted(Claim claim, Standing.Held model, Standing.Held found) {
    Standing.Held before = grants.putIfAbsent(new Grant(claim.id(), model.token()), found);
    if (before == null) {
      long most = Math.max(64, 2 * nowMicros + 4096 - found.token());
      long count = Math.min(most, model.lastToken() - model.token() + 1);
      assertThat(found.lastToken() - found.token() + 1).isEqualTo(count);
      assertThat(found.token()).isGreaterThan(lastTokens.getOrDefault(claim.lock(), 0L));
      assertThat(found.token()).isGreaterThanOrEqualTo(2 * nowMicros);
      lastTokens.put(claim.lock(), found.lastToken());
    } else {
      assertThat(found.isSameAs(before)).as("%s, before %s", found, before).isTrue();
    }
  }

  /** Grants from the line rang. */
  private void rings(String lock) {
    model(lock).takeGrants().forEach(this::rings);
  }

  private void rings(LockState.Grant grant) {
    Claim claim = claimOf(grant.id());
    await()
        .alias(claim.toString())
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        .until(() -> rung.containsKey(grant.id()));
    Standing.Held found = rung.remove(grant.id());
    assertThat(found.followers()).isEqualTo(grant.held().followers());
    granted(claim, grant.held(), found);
  }

  /** Both know the same holders and waiters. */
  private void settled(String lock) {
    LockState model = model(lock);
    LockView view = answer(stores.get(0).show(lock)).orElse(null);
    if (view == null) {
      assertThat(model.holders()).isEmpty();
      assertThat(model.waiters()).isEmpty();
      return;
    }
    assertThat(view.kind()).isEqualTo(model.kind());
    assertThat(view.holders().stream().map(DifferentialTest::text).toList())
        .isEqualTo(model.holders().stream().map(DifferentialTest::text).toList());
    assertThat(view.waiters().stream().map(DifferentialTest::text).toList())
        .isEqualTo(model.waiters().stream().map(DifferentialTest::text).toList());
    long lastHeard = lastTokens.getOrDefault(lock, 0L);
    if (unheard) {
      assertThat(view.lastToken()).isGreaterThanOrEqualTo(lastHeard);
      lastTokens.put(lock, view.lastToken());
      unheard = false;
    } else {
      assertThat(view.lastToken()).isEqualTo(lastHeard);
    }
  }

  private static String text(ClaimView claim) {
    long since = claim.since().toEpochMilli();
    return claim.id() + " " + claim.mode() + " " + since + " " + claim.until().toEpochMilli();
  }

  private static String text(Entry entry) {
    return entry.id() + " " + entry.mode() + " " + entry.since() + " " + entry.until();
  }

  private void rung(Claim claim, Standing standing) {
    assertThat(rung.put(claim.id(), (Standing.Held) standing)).isNull();
  }

  private Claim claimOf(ClaimId id) {
    return claims.stream().filter(claim -> claim.id().equals(id)).findFirst().orElseThrow();
  }

  private RedisStore storeOf(Claim claim) {
    return stores.get(claim.id().client().equals("c0") ? 0 : 1);
  }

  private LockState model(String lock) {
    return models.computeIfAbsent(lock, name -> new LockState(name, 0));
  }

  private long now() {
    return nowMicros / 1000;
  }

  private void tick(long millis) {
    nowMicros += 1000 * millis + random.nextInt(1000);
    TestClock.set(server, nowMicros);
  }

  private static <T> T answer(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }
}
