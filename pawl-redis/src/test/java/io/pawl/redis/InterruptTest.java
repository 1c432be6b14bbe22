package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Diagnosable.Finding;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Lettuce's own waits hear interrupts, or lose them. */
class InterruptTest {

  private static Set<Thread> lettuces() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("lettuce-"))
        .collect(Collectors.toSet());
  }

  @Test
  void aDoctorAsksAllThoughItsThreadIsInterrupted() {
    try (RedisServer server = RedisServer.start();
        RedisStore store = RedisStore.connect(server.url())) {
      Thread.currentThread().interrupt();
      List<Finding> findings;
      try {
        findings = store.diagnose();
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }

      assertThat(findings)
          .extracting(Finding::what)
          .anyMatch(what -> what.contains("round trip"))
          .anyMatch(what -> what.contains("role master"))
          .anyMatch(what -> what.contains("appendonly"));
    }
  }

  @Test
  void aStoreOpensThoughAnInterruptComesMeanwhile() throws Exception {
    try (RedisServer server = RedisServer.start()) {
      String url = server.url() + "?timeout=20s";
      server.pause();
      AtomicBoolean stayed = new AtomicBoolean();
      CompletableFuture<RedisStore> opened = new CompletableFuture<>();
      Thread opens =
          new Thread(
              () -> {
                try {
                  opened.complete(RedisStore.connect(url));
                } catch (RuntimeException e) {
                  opened.completeExceptionally(e);
                }
                stayed.set(Thread.interrupted());
              });
      opens.start();
      await().until(() -> waitsForServer(opens));
      opens.interrupt();
      server.resume();

      opened.get(60, TimeUnit.SECONDS).close();
      opens.join();
      assertThat(stayed).isTrue();
    }
  }

  private static boolean waitsForServer(Thread thread) {
    return Stream.of(thread.getStackTrace())
            .anyMatch(frame -> frame.getMethodName().equals("connect"))
        && thread.getState() == Thread.State.TIMED_WAITING;
  }

  @Test
  void aStoreClosedByAnInterruptedThreadLeavesNoThreadOfLettucesBehind() {
    try (RedisServer server = RedisServer.start()) {
      Set<Thread> before = lettuces();
      RedisStore store = RedisStore.connect(server.url());
      Seam seam = new Seam(store);
      Claim claim = seam.claim("closed");
      seam.take(claim);
      seam.withdraw(claim);
      assertThat(lettuces()).isNotEqualTo(before);

      Thread.currentThread().interrupt();
      try {
        store.close();
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }

      await().until(() -> before.containsAll(lettuces()));
    }
  }
}
