package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.memory.MemoryStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of a leader's body that fails. */
class CandidacyTest {

  private final PrintStream realError = System.err;
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private final Pawl pawl = Pawl.over(new MemoryStore());

  CandidacyTest() {
    System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void close() {
    System.setErr(realError);
    pawl.close();
  }

  private Candidacy lead(IOException failure) {
    return pawl.election("e")
        .stand(
            "c",
            lease -> {
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                throw failure;
              }
            });
  }

  @Test
  void aBodyThatFailsOnItsWayOutIsToldLikeAnyOther() {
    try (Candidacy candidacy = lead(new IOException("the last page is not saved"))) {
      await().until(() -> candidacy.leadership().isPresent());

      candidacy.resign();

      await().until(() -> log.toString(StandardCharsets.UTF_8).contains("leading 'e' failed"));
    }
    assertThat(log.toString(StandardCharsets.UTF_8)).contains("the last page is not saved");
  }

  @Test
  void aBodyThatFailsWhileItsCandidacyClosesIsToldToo() {
    Candidacy candidacy = lead(new IOException("the last page is not saved"));
    await().until(() -> candidacy.leadership().isPresent());

    candidacy.close();

    assertThat(log.toString(StandardCharsets.UTF_8)).contains("the last page is not saved");
  }
}
