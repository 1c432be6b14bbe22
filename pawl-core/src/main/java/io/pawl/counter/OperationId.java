package io.pawl.counter;

import io.pawl.spi.LockName;
import java.io.Serializable;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The id under which a change of a counter happens at most once: a repetition under the same id has
 * the same result as the first call. Each counter has its own ids: two counters may know the same
 * one.
 *
 * <p>A store keeps ids for a stated time. After that, only the time of first use tells a repetition
 * from a new operation. So pass that time where you know it, such as the time of the order that the
 * id stands for. An operation from before the kept time is refused ({@link
 * OperationTooOldException}), never applied again. Without a time a change counts as first made
 * now, and a question about an id that is not known, such as {@code outcome}, is refused too once
 * anything was forgotten.
 *
 * @param text 1 to 250 bytes of UTF-8 without control characters, compared byte for byte
 * @param issued when the id was first used, to the millisecond, by any clock that is roughly right;
 *     null if unknown
 */
public record OperationId(String text, @Nullable Instant issued) implements Serializable {

  /** The longest text in bytes of UTF-8; databases limit the key that it is part of. */
  public static final int MAX_BYTES = 250;

  private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");

  public OperationId {
    LockName.check("operation id", text, MAX_BYTES);
    if (issued != null && (issued.isBefore(Instant.EPOCH) || issued.isAfter(LATEST))) {
      throw new IllegalArgumentException(
          "operation id '" + text + "': issued " + issued + " is not between 1970 and 9999");
    }
  }

  /** Returns an id whose time of first use is unknown. */
  public static OperationId of(String text) {
    return new OperationId(text, null);
  }

  /** Returns an id that was first used at {@code issued}. */
  public static OperationId of(String text, Instant issued) {
    return new OperationId(text, issued);
  }

  /** Returns a new id, first used now. */
  public static OperationId random() {
    return new OperationId(UUID.randomUUID().toString(), Instant.now());
  }

  @Override
  public String toString() {
    return text;
  }
}
