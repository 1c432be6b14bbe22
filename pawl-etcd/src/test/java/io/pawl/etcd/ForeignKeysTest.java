package io.pawl.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreException;
import io.pawl.servers.EtcdServer;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.Tokens;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Keys below the namespace that Pawl did not write. */
class ForeignKeysTest {

  private final EtcdServer server = EtcdServer.start(Urls.QUICK);
  private final EtcdStore store = EtcdStore.connect(Urls.of(server));
  private final Seam seam = new Seam(store);

  @AfterEach
  void close() {
    store.close();
    server.close();
  }

  @Test
  void areLeftOutOfAList() {
    seam.take(seam.claim("mine"));
    seam.take(seam.claim("odd"));
    ServerFaultsTest.put(server, "pawl/claim/x", "theirs");
    ServerFaultsTest.put(server, "pawl/claim/y/z", "theirs");
    ServerFaultsTest.put(server, "pawl/kind/odd", "theirs");

    List<LockView> list = Seam.answer(store.list(100));

    assertThat(list).extracting(LockView::name).containsExactly("mine");
  }

  @Test
  void areLeftOutOfAListThoughOnlyTheirTokensCannotBe() {
    seam.take(seam.claim("mine"));
    String since = "{\"mode\":\"exclusive\",\"since\":\"2026-01-01T00:00:00Z\"";
    ServerFaultsTest.put(server, "pawl/claim/none/x/a.1", since + "}");
    ServerFaultsTest.put(server, "pawl/claim/negative/x/a.1", since + ",\"tokens\":-1}");
    ServerFaultsTest.put(
        server, "pawl/claim/below/x/a.1", since + ",\"tokens\":1,\"base\":" + -Tokens.MAX + "}");
    ServerFaultsTest.put(
        server, "pawl/claim/last/x/a.1", since + ",\"tokens\":1,\"base\":" + Tokens.MAX + "}");

    List<LockView> list = Seam.answer(store.list(100));

    assertThat(list).extracting(LockView::name).containsExactly("mine");
    assertThat(Seam.answer(store.list(1))) // "below" comes first
        .extracting(LockView::name)
        .containsExactly("mine");
    for (String foreign : List.of("none", "negative", "below", "last")) {
      assertThatThrownBy(() -> Seam.answer(store.show(foreign)))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(foreign);
    }
  }

  @Test
  void aListEndsThoughAPageOfKeysIsNoText() {
    byte[] prefix = "pawl/claim/".getBytes(UTF_8);
    for (int i = 0; i < 600; i++) {
      byte[] key = Arrays.copyOf(prefix, prefix.length + 4);
      key[prefix.length] = (byte) 0xff;
      key[prefix.length + 1] = (byte) 0xfe;
      key[prefix.length + 2] = (byte) (0x80 + i / 100);
      key[prefix.length + 3] = (byte) (0x80 + i % 100);
      server.post("/v3/kv/put", "{\"key\":\"" + Base64.getEncoder().encodeToString(key) + "\"}");
    }
    seam.take(seam.claim("mine"));

    List<LockView> list = Seam.answer(store.list(100));

    assertThat(list).extracting(LockView::name).containsExactly("mine");
  }

  @Test
  void ofOneLockAreNoMatterToTheClaimsOfOthers() {
    Mode permits = new Mode.Permits(1, 1);
    seam.take(seam.claim("theirs", permits, Seam.LEASE));
    ServerFaultsTest.put(server, "pawl/claim/theirs/p/a.1", "theirs");
    Claim waits = seam.claim("theirs", permits, Seam.LEASE);
    assertThatThrownBy(() -> seam.attempt(waits))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("delete the key");
    Claim held = seam.claim("mine");
    seam.take(held);

    assertThat(Seam.answer(store.renew(List.of(waits, held))))
        .doesNotContainKey(waits.id())
        .hasEntrySatisfying(
            held.id(), standing -> assertThat(standing).isInstanceOf(Standing.Held.class));
  }

  @Test
  void doNotEndTheWatchOfManyLocks() throws Exception {
    ServerFaultsTest.put(server, "pawl/claim/x", "theirs");
    List<Claim> held = new ArrayList<>();
    List<CompletableFuture<Standing>> bells = new ArrayList<>();
    try (EtcdStore waiting = EtcdStore.connect(Urls.of(server))) {
      Seam there = new Seam(waiting);
      for (int i = 0; i < 20; i++) {
        Claim claim = seam.claim("many" + i);
        seam.take(claim);
        held.add(claim);
      }
      List<CompletableFuture<Standing>> answers = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        CompletableFuture<Standing> bell = new CompletableFuture<>();
        bells.add(bell);
        answers.add(
            waiting.attempt(there.claim("many" + i), (Bell) bell::complete).toCompletableFuture());
      }
      answers.forEach(Seam::answer);
      seam.withdraw(held.get(0));
      await().atMost(20, TimeUnit.SECONDS).until(() -> bells.get(0).isDone());
      long streams = TripsTest.served(server, "Watch");

      server.post(
          "/v3/kv/deleterange", "{\"key\":\"" + ServerFaultsTest.base64("pawl/claim/x") + "\"}");
      held.forEach(seam::withdraw);

      await().atMost(20, TimeUnit.SECONDS).until(() -> bells.stream().allMatch(b -> b.isDone()));
      assertThat(TripsTest.served(server, "Watch")).isEqualTo(streams);
    }
  }
}
