package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.error.StoreException;
import io.pawl.spi.StoreUrl;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AdmissionTest {

  /** What was said before the first request counts for as long. */
  private static final long TICK_NANOS = TimeUnit.HOURS.toNanos(1);

  @Test
  void anErrorInARequestRefusesItAndDelaysNoLaterOne() {
    try (Clock clock = new Clock()) {
      Settings settings = Settings.parse(StoreUrl.parse("zk://nowhere"));
      Admission admission = new Admission(settings, clock, TICK_NANOS, CompletableFuture::new);
      Error error = new InternalError("for a test");
      List<StoreException> refusals = new ArrayList<>();
      List<String> sent = new ArrayList<>();
      admission.open();

      admission.admit(
          () -> {
            throw error;
          },
          refusals::add);
      admission.admit(() -> sent.add("later"), refusals::add);

      assertThat(refusals).singleElement().extracting(StoreException::getCause).isSameAs(error);
      assertThat(sent).containsExactly("later");
    }
  }
}
