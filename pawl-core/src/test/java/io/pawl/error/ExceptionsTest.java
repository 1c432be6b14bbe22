package io.pawl.error;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.OutcomeUnknownException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What Pawl throws is one family, and travels between processes with all that it says. */
class ExceptionsTest {

  private static final OperationId ID = OperationId.of("order-17", Instant.EPOCH.plusMillis(1));

  static Stream<PawlException> all() {
    StoreException cause = new StoreException("why");
    return Stream.of(
        cause,
        new StoreConfigurationException("wrong"),
        new StoreDeniedException("denied", null),
        new StoreUnavailableException("gone"),
        StoreUnavailableException.unsent("gone", null),
        NameInUseException.byLock("stock"),
        new LockKindException("pool", 8, 0),
        new LeaseLostException("nightly", 3, "it ran out"),
        new RunTooLongException("nightly", 3, Duration.ofSeconds(5)),
        new StaleTokenException("stale", 7),
        new OperationConflictException("stock", ID, "add 1", "add 2, applied"),
        new OperationTooOldException("stock", ID, Instant.EPOCH),
        new OutcomeUnknownException("stock", ID, "redis://host", cause));
  }

  @ParameterizedTest
  @MethodSource("all")
  void anExceptionSurvivesSerializationWithItsFields(PawlException thrown) throws Exception {
    PawlException read = (PawlException) read(written(thrown));
    assertThat(read)
        .usingRecursiveComparison()
        .ignoringFields("stackTrace", "suppressedExceptions", "cause.stackTrace")
        .isEqualTo(thrown);
    assertThat(read).hasMessage(thrown.getMessage()).isExactlyInstanceOf(thrown.getClass());
  }

  private static byte[] written(Object thrown) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(thrown);
    }
    return bytes.toByteArray();
  }

  private static Object read(byte[] bytes) throws IOException, ClassNotFoundException {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return in.readObject();
    }
  }
}
