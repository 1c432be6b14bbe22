package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two clients of a database and the {@link GrantRule} go through the same random histories, and
 * agree on every answer, holder, waiter and token, whatever was batched, joined or cut short; and
 * whoever waits is rung for. No lease ends meanwhile.
 */
class LockHistoriesTest {

  private static final int STEPS = 200;
  private static final long NOW = 1_000_000_000_000L;

  /** What is asked of a store, and what the rule says to it. */
  private record Request(
      String what, Supplier<CompletionStage<?>> ask, Supplier<@Nullable Object> rule) {}

  private final Map<String, LockState> models = new TreeMap<>();
  private final String prefix = "history-" + System.nanoTime() + "-";
  private final List<Claim> claims = new ArrayList<>();
  private final Map<ClaimId, SqlStore> owners = new HashMap<>();

  /** Those that were withdrawn for good: of them no attempt can come. */
  private final Set<ClaimId> over = new HashSet<>();

  /** Those that were told last that they wait. */
  private final Set<ClaimId> waiting = new HashSet<>();

  private final Set<ClaimId> owedBells = new HashSet<>();
  private final Set<ClaimId> rung = ConcurrentHashMap.newKeySet();
  private Random random = new Random();
  private SqlStore store;
  private long number;

  /** With which a lock begins that the database does not know. */
  private long forgotten;

  @ParameterizedTest
  @EnumSource
  void p1_oneHolder_theDatabaseDecidesAsTheGrantRuleDoes(TestDatabase database) throws Exception {
    random = new Random(database.ordinal());
    try (SqlStore here = database.open();
        SqlStore there = database.open()) {
      forgotten = forgotten(here, prefix + "unknown");
      for (int i = 0; i < STEPS; i++) {
        boolean mostlyHere = i / 10 % 2 == 0;
        store = random.nextInt(4) > 0 == mostlyHere ? here : there;
        List<Request> requests = new ArrayList<>();
        for (int n = 1 + random.nextInt(random.nextBoolean() ? 2 : 6); n > 0; n--) {
          requests.add(request());
        }
        send(requests);
      }
    }
  }

  /** Purging in tests before this one has counted it up. */
  private static long forgotten(SqlStore store, String unknown) throws Exception {
    Claim claim =
        new Claim(
            unknown,
            new ClaimId("client", 1),
            Mode.EXCLUSIVE,
            Duration.ofDays(1),
            Duration.ZERO,
            false,
            1,
            0,
            false,
            new Holder("host", 1, "thread", "", ""));
    Standing standing = store.attempt(claim, told -> {}).toCompletableFuture().get(60, SECONDS);
    return ((Standing.Held) standing).token() - 1;
  }

  private Request request() {
    int dice = random.nextInt(100);
    if (dice < 35) {
      return attempt(fresh());
    }
    if (dice < 45) {
      return again();
    }
    if (dice < 55) {
      return renew();
    }
    if (dice < 94) {
      return withdraw();
    }
    String name = prefix + random.nextInt(3);
    if (dice < 97) {
      long token = model(name).lastToken() - random.nextInt(3);
      return new Request(
          "evict " + token + " of " + name,
          () -> store.evict(name, token),
          () -> GrantRule.evict(model(name), token, NOW));
    }
    Kind kind = new Kind(random.nextInt(4));
    return new Request(
        name + " is " + kind,
        () -> store.setKind(name, kind),
        () -> GrantRule.setKind(model(name), kind, NOW));
  }

  private void send(List<Request> requests) throws Exception {
    List<CompletionStage<?>> answers = new ArrayList<>();
    store.together(() -> requests.forEach(each -> answers.add(each.ask().get())));
    for (int i = 0; i < requests.size(); i++) {
      Object found = answers.get(i).toCompletableFuture().get(60, SECONDS);
      assertThat(text(found))
          .as("%s of %s", i, requests)
          .isEqualTo(text(requests.get(i).rule().get()));
    }
    for (Map.Entry<String, LockState> each : models.entrySet()) {
      LockState model = each.getValue();
      LockView unknown = new LockState(each.getKey(), forgotten).view(0);
      LockView view =
          store.show(each.getKey()).toCompletableFuture().get(60, SECONDS).orElse(unknown);
      assertThat(text(view))
          .as("%s after %s", each.getKey(), requests)
          .isEqualTo(text(model.view(0)));
      model.takeGrants().stream()
          .map(LockState.Grant::id)
          .filter(waiting::contains)
          .forEach(owedBells::add);
    }
    if (random.nextInt(20) == 0) {
      owedBells.retainAll(waiting);
      owedBells.removeIf(id -> !isHolder(id)); // whoever was evicted meanwhile
      await().until(() -> rung.containsAll(owedBells));
      owedBells.clear();
    }
  }

  private boolean isHolder(ClaimId id) {
    return models.values().stream()
        .flatMap(model -> model.holders().stream())
        .anyMatch(holder -> holder.id().equals(id));
  }

  private LockState model(String name) {
    return models.computeIfAbsent(name, unknown -> new LockState(unknown, forgotten));
  }

  private Claim fresh() {
    String name = prefix + random.nextInt(3);
    Kind kind = model(name).kind();
    Mode mode = random.nextInt(4) == 0 ? Mode.SHARED : Mode.EXCLUSIVE;
    if (kind != null && kind.isSemaphore() || random.nextInt(20) == 0) {
      int capacity = kind != null && kind.isSemaphore() ? kind.capacity() : 1 + random.nextInt(3);
      mode = new Mode.Permits(1 + random.nextInt(capacity), capacity);
    }
    Claim claim =
        new Claim(
            name,
            new ClaimId("client" + store.hashCode(), ++number),
            mode,
            Duration.ofDays(random.nextInt(3) == 0 ? 7 : 6),
            random.nextInt(15) == 0 ? Duration.ofDays(5) : Duration.ZERO,
            random.nextInt(4) > 0,
            random.nextInt(3) == 0 ? 1 + random.nextInt(20) : 1,
            random.nextInt(20) == 0 ? model(name).lastToken() + random.nextInt(20) : 0,
            false,
            new Holder("host", 1, "thread" + random.nextInt(3), "", "\"\uD83D\uDE00\\"));
    owners.put(claim.id(), store);
    claims.add(claim);
    return claim;
  }

  /** One of this client's latest, often the last, which may be asked for in the same batch. */
  private Claim known() {
    for (int back = 1 + random.nextInt(random.nextBoolean() ? 1 : 12);
        back <= claims.size();
        back++) {
      Claim claim = claims.get(claims.size() - back);
      if (owners.get(claim.id()) == store) {
        return claim;
      }
    }
    return fresh();
  }

  private Request attempt(Claim claim) {
    return new Request(
        "attempt of " + claim,
        () -> store.attempt(claim, standing -> rung.add(claim.id())),
        () -> heard(claim.id(), GrantRule.attempt(model(claim.lock()), claim, NOW)));
  }

  /** A repetition, a late one, a downgrade. */
  private Request again() {
    Claim known = known();
    Claim claim = over.contains(known.id()) ? fresh() : known;
    boolean downgrades = claim.mode() instanceof Mode.Exclusive && random.nextInt(3) == 0;
    return attempt(downgrades ? claim.as(Mode.SHARED) : claim);
  }

  private Request renew() {
    Map<ClaimId, Claim> some = new TreeMap<>();
    for (int n = 1 + random.nextInt(4); n > 0; n--) {
      Claim claim = known();
      some.put(claim.id(), claim);
    }
    List<Claim> renewed = List.copyOf(some.values());
    return new Request(
        "renewal of " + some.keySet(),
        () -> store.renew(renewed),
        () -> {
          Map<ClaimId, Standing> standings = new TreeMap<>();
          renewed.forEach(
              each ->
                  standings.put(
                      each.id(),
                      heard(each.id(), GrantRule.renew(model(each.lock()), each.id(), NOW))));
          return standings;
        });
  }

  private Standing heard(ClaimId id, Standing standing) {
    if (standing instanceof Standing.Waiting) {
      waiting.add(id);
    } else {
      waiting.remove(id);
    }
    return standing;
  }

  private Request withdraw() {
    Claim known = random.nextBoolean() ? known() : holder().orElseGet(this::known);
    Claim claim = random.nextInt(15) == 0 ? known.asUnsettled() : known;
    if (!claim.unsettled()) {
      over.add(claim.id());
    }
    return new Request(
        "withdrawal of " + claim,
        () -> store.withdraw(claim),
        () -> {
          waiting.remove(claim.id());
          GrantRule.withdraw(model(claim.lock()), claim, NOW);
          return null;
        });
  }

  private Optional<Claim> holder() {
    return models.values().stream()
        .flatMap(model -> model.holders().stream())
        .flatMap(held -> claims.stream().filter(claim -> claim.id().equals(held.id())))
        .filter(claim -> owners.get(claim.id()) == store)
        .findAny();
  }

  /** Without what depends on the clock. */
  private static String text(@Nullable Object value) {
    if (value instanceof Standing.Waiting) {
      return "waiting";
    }
    if (value instanceof Map<?, ?> standings) {
      Map<String, String> texts = new TreeMap<>();
      standings.forEach((id, standing) -> texts.put(id.toString(), text(standing)));
      return texts.toString();
    }
    if (value instanceof LockView view) {
      return view.kind()
          + " up to "
          + view.lastToken()
          + texts(view.holders())
          + texts(view.waiters());
    }
    return String.valueOf(value);
  }

  private static List<String> texts(List<ClaimView> claims) {
    return claims.stream()
        .map(each -> each.id() + " " + each.mode() + " " + each.token() + " " + each.lastToken())
        .toList();
  }
}
