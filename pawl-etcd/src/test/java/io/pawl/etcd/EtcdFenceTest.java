package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StaleTokenException;
import io.pawl.error.StoreException;
import io.pawl.servers.EtcdServer;
import io.pawl.spi.Tokens;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class EtcdFenceTest {

  private static EtcdServer server;
  private static EtcdFence fence;

  @BeforeAll
  static void start() {
    server = EtcdServer.start(Urls.QUICK);
    fence = EtcdFence.connect(Urls.of(server));
  }

  @AfterAll
  static void stop() {
    fence.close();
    server.close();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static void assertStored(String key, String value) {
    assertThat(server.post("/v3/kv/range", "{\"key\":\"" + base64(key) + "\"}"))
        .contains("\"value\":\"" + base64(value) + "\"");
  }

  @Test
  void p3_fencedSafety_aSmallerTokenWritesNothing() {
    fence.write("report", "first", 7);
    fence.write("report", "second", 1_000_000_007);
    fence.write("report", "again", 1_000_000_007);

    assertThatThrownBy(() -> fence.write("report", "late", 8))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("1000000007");

    assertStored("report", "again");
  }

  @Test
  void p3_fencedSafety_inALanguageThatHasDigitsOfItsOwn() {
    fence.write("language", "second", 200);
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag("fa-IR"));
    try {
      assertThatThrownBy(() -> fence.write("language", "late", 100))
          .isInstanceOf(StaleTokenException.class);
    } finally {
      Locale.setDefault(before);
    }
    assertStored("language", "second");
  }

  @Test
  void p3_fencedSafety_tokensOfLocksGrow() throws Exception {
    try (Pawl pawl = Pawl.connect(Urls.of(server))) {
      Lease first = pawl.lock("fenced").acquire();
      long token = first.token();
      first.close();
      try (Lease second = pawl.lock("fenced").acquire()) {
        fence.write("balance", "2", second.token());
        assertThatThrownBy(() -> fence.write("balance", "1", token))
            .isInstanceOf(StaleTokenException.class);
      }
    }
    assertStored("balance", "2");
  }

  @Test
  void threadsOfOneHolderMayAllWriteAtOnce() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(32);
    try {
      List<Future<?>> writes = new ArrayList<>();
      for (int i = 0; i < 320; i++) {
        String value = "value" + i;
        writes.add(
            threads.submit(
                () -> {
                  fence.write("shared", value, 7);
                  fence.accept("shared", 7);
                }));
      }
      for (Future<?> each : writes) {
        each.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aTokenIsAcceptedWithoutAValue() {
    fence.accept("machine", 5);
    fence.accept("machine", 5);
    assertThatThrownBy(() -> fence.accept("machine", 4)).isInstanceOf(StaleTokenException.class);
  }

  @Test
  void aValueThatIsNoTokenIsNamedAsAnErrorOfTheStore() {
    ServerFaultsTest.put(server, fence.fenceOf("foreign"), "x");

    assertThatThrownBy(() -> fence.accept("foreign", 5))
        .isInstanceOf(StoreException.class)
        .isNotInstanceOf(StaleTokenException.class)
        .hasMessageContaining("'pawl/fence/foreign'");
  }

  @Test
  void tokensAreStoredInTheOrderOfNumbers() {
    assertThat(EtcdFence.text(9)).isLessThan(EtcdFence.text(10));
    assertThat(EtcdFence.text(Tokens.MAX)).hasSize(16);
    assertThatThrownBy(() -> EtcdFence.text(Tokens.MAX + 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fence.accept("machine", 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fence.accept("", 1)).isInstanceOf(IllegalArgumentException.class);
  }
}
