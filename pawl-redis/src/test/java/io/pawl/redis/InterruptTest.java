package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Lettuce's own waits hear interrupts, or lose them. */
class InterruptTest {

  private static Set<Thread> lettuces() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("lettuce-"))
        .collect(Collectors.toSet());
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
