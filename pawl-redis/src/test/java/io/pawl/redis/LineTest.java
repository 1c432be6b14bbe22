package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What locks and long lines cost the server, and what they leave behind. */
class LineTest {

  private final RedisServer server = RedisServer.start();

  @AfterEach
  void close() {
    server.close();
  }

  private long calls(String command) {
    Matcher found =
        Pattern.compile("cmdstat_" + command + ":calls=(\\d+)")
            .matcher(server.text("INFO", "commandstats"));
    return found.find() ? Long.parseLong(found.group(1)) : 0;
  }

  @Test
  void aFreeCycleIsTwoCommandsAndNoSubscription() throws Exception {
    try (Pawl pawl = Pawl.connect(server.url())) {
      pawl.lock("first").acquire().close();
      server.call("CONFIG", "RESETSTAT");
      for (int i = 0; i < 100; i++) {
        try (Lease lease = pawl.lock("free").acquire()) {
          lease.ensureValid();
        }
      }
      assertThat(calls("evalsha")).isEqualTo(200);
      assertThat(calls("eval") + calls("publish") + calls("subscribe")).isZero();
      assertThat(server.text("INFO", "clients")).contains("connected_clients:2");
    }
  }

  /** A client that begins to listen asks for all who wait by then. */
  private void listen(RedisStore store) {
    try (RedisStore other = RedisStore.connect(server.url())) {
      Seam there = new Seam(other);
      Claim holder = there.claim("first");
      there.take(holder);
      Seam here = new Seam(store);
      Claim waiter = here.claim("first");
      CompletableFuture<Standing> ring = new CompletableFuture<>();
      Seam.answer(store.attempt(waiter, ring::complete));
      there.withdraw(holder);
      Seam.answer(ring);
      here.withdraw(waiter);
    }
  }

  @Test
  void tenThousandWaitersAreServedInOrderAtAConstantCost() {
    try (RedisStore store = RedisStore.connect(server.url() + "?timeout=30s")) {
      listen(store);
      Seam seam = new Seam(store);
      Claim holder = seam.claim("line");
      seam.take(holder);
      List<Claim> line = new ArrayList<>();
      List<CompletableFuture<Standing>> asked = new ArrayList<>();
      List<CompletableFuture<Standing>> rings = new ArrayList<>();
      for (int i = 0; i < GrantRule.MAX_WAITERS; i++) {
        Claim waiter = seam.claim("line");
        CompletableFuture<Standing> ring = new CompletableFuture<>();
        line.add(waiter);
        rings.add(ring);
        asked.add(store.attempt(waiter, ring::complete).toCompletableFuture());
      }
      asked.forEach(Seam::answer);
      Claim tooMany = seam.claim("line");
      assertThat(((Standing.Waiting) seam.attempt(tooMany)).askAgain()).hasMillis(100);
      assertThat(seam.renew(tooMany)).isEqualTo(Standing.GONE);

      server.call("CONFIG", "RESETSTAT");
      Claim last = holder;
      long token = 0;
      for (int i = 0; i < line.size(); i++) {
        seam.withdraw(last);
        Standing.Held granted = (Standing.Held) Seam.answer(rings.get(i));
        assertThat(granted.token()).isGreaterThan(token);
        token = granted.lastToken();
        last = line.get(i);
      }
      assertThat(calls("evalsha")).isEqualTo(GrantRule.MAX_WAITERS);
      assertThat(calls("hset") + calls("hdel") + calls("hget") + calls("hmget"))
          .isLessThanOrEqualTo(6L * GrantRule.MAX_WAITERS);
      seam.withdraw(last);
    }
  }

  @Test
  void aGrantNamesThoseOfItsClientWhoStandBehindIt() {
    try (RedisStore store = RedisStore.connect(server.url());
        RedisStore second = RedisStore.connect(server.url())) {
      Seam seam = new Seam(store);
      Seam other = new Seam(second);
      Claim holder = seam.claim("run", Seam.LEASE, 64);
      seam.take(holder);
      List<Claim> line = new ArrayList<>();
      List<CompletableFuture<Standing>> rings = new ArrayList<>();
      Claim between = other.claim("run", Seam.LEASE, 64);
      for (int i = 0; i < 100; i++) {
        if (i == 2) {
          assertThat(other.attempt(between)).isInstanceOf(Standing.Waiting.class);
        }
        Claim waiter = seam.claim("run", Seam.LEASE, i == 50 ? 1 : 64);
        CompletableFuture<Standing> ring = new CompletableFuture<>();
        line.add(waiter);
        rings.add(ring);
        Seam.answer(store.attempt(waiter, ring::complete));
      }
      seam.withdraw(holder);
      assertThat(followers(rings.get(0))).isEqualTo(ids(line.subList(1, 2)));
      other.withdraw(between);
      for (int i = 0; i < 99; i++) {
        seam.withdraw(line.get(i));
        int more = i + 1 == 50 ? 0 : Math.min(63, 98 - i);
        assertThat(followers(rings.get(i + 1))).isEqualTo(ids(line.subList(i + 2, i + 2 + more)));
      }
    }
  }

  private static List<ClaimId> followers(CompletableFuture<Standing> ring) {
    return ((Standing.Held) Seam.answer(ring)).followers();
  }

  private static List<ClaimId> ids(List<Claim> claims) {
    return claims.stream().map(Claim::id).toList();
  }

  @Test
  void everyKeyExpiresAndWaitersLeaveNothing() {
    try (RedisStore store = RedisStore.connect(server.url())) {
      Seam seam = new Seam(store);
      Claim holder = seam.claim("keys");
      Claim waiter = seam.claim("keys");
      Claim late = seam.claim("keys2");
      seam.take(holder);
      seam.attempt(waiter);
      seam.withdraw(late.asUnsettled());
      seam.withdraw(waiter);
      seam.withdraw(holder);
      for (Object key : server.list("KEYS", "*")) {
        assertThat((Long) server.call("PTTL", (String) key)).isBetween(1L, 2_400_000L);
      }
      assertThat(server.list("HKEYS", Keys.of("keys"))).isEqualTo(List.of("."));
    }
  }

  @Test
  void closingLeavesNoThreadAndNoConnection() {
    for (int i = 0; i < 2; i++) {
      RedisStore store = RedisStore.connect(server.url());
      Seam seam = new Seam(store);
      seam.take(seam.claim("threads" + i));
      seam.attempt(seam.claim("threads" + i));
      store.close();
    }
    await()
        .untilAsserted(
            () -> assertThat(server.text("INFO", "clients")).contains("connected_clients:1"));
    await()
        .untilAsserted(
            () ->
                assertThat(Thread.getAllStackTraces().keySet())
                    .extracting(Thread::getName)
                    .noneMatch(name -> name.startsWith("lettuce-")));
  }

  @Test
  void hundredsOfClaimsAreRenewedInOneCommand() {
    try (RedisStore store = RedisStore.connect(server.url())) {
      Seam seam = new Seam(store);
      List<Claim> claims = new ArrayList<>();
      for (int i = 0; i < store.renewBatch(); i++) {
        Claim claim = seam.claim("many" + i);
        seam.take(claim);
        claims.add(claim);
      }
      seam.renew(claims.get(0));
      server.call("CONFIG", "RESETSTAT");
      assertThat(Seam.answer(store.renew(claims))).hasSize(store.renewBatch());
      assertThat(calls("evalsha")).isEqualTo(1);
      assertThat(store.renewBatch()).isGreaterThanOrEqualTo(200);
    }
  }
}
