package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** How long closing waits for holders where several threads close. */
class ClosingGraceTest {

  /** As the shutdown hook does, whose process has seconds. */
  @Test
  void ofSeveralCallsTheShortestGraceCounts() {
    Pawl pawl = Pawl.over(new MemoryStore());
    Lease held = pawl.lock("a").tryAcquire().orElseThrow();
    CompletableFuture<Void> asked = new CompletableFuture<>();
    held.onClosing(() -> asked.complete(null));
    CompletableFuture<Void> patient =
        CompletableFuture.runAsync(() -> pawl.close(Duration.ofHours(1)));
    await().until(asked::isDone);

    pawl.close(Duration.ZERO);

    assertThat(patient).succeedsWithin(Duration.ofSeconds(30));
    assertThat(held.isValid()).isFalse();
  }

  @Test
  void aShorterCloseEndsTheWaitForLeadersToo() {
    MemoryStore store = new MemoryStore();
    Pawl pawl = Pawl.over(store);
    CompletableFuture<Void> interrupted = new CompletableFuture<>();
    CompletableFuture<Void> ends = new CompletableFuture<>();
    Candidacy leader =
        pawl.election("e")
            .stand(
                "c",
                lease -> {
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    interrupted.complete(null);
                    ends.join();
                  }
                });
    await().until(() -> leader.leadership().isPresent());
    CompletableFuture<Void> patient =
        CompletableFuture.runAsync(() -> pawl.close(Duration.ofHours(1)));
    await().until(interrupted::isDone);

    pawl.close(Duration.ZERO);

    assertThat(patient).succeedsWithin(Duration.ofSeconds(30));
    try (Pawl other = Pawl.over(store)) {
      assertThat(other.lock("e").tryAcquire()).as("its body goes on").isEmpty();
    }
    ends.complete(null);
  }
}
