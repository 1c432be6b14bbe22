package io.pawl.sql;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** Claims made without the engine. */
final class Claims {

  private static final String CLIENT =
      "test" + Long.toString(ThreadLocalRandom.current().nextLong(Long.MAX_VALUE), 36);
  private static final AtomicLong numbers = new AtomicLong();

  private Claims() {}

  /** One that queues, with a lease of five minutes. */
  static Claim claim(String lock) {
    return of(lock, new ClaimId(CLIENT, numbers.incrementAndGet()));
  }

  /** As {@link #claim}, under this id. */
  static Claim of(String lock, ClaimId id) {
    return of(lock, id, Mode.EXCLUSIVE, Duration.ZERO);
  }

  /** As {@link #claim}, with a shortest hold. */
  static Claim heldFor(String lock, Duration minHold) {
    return of(lock, new ClaimId(CLIENT, numbers.incrementAndGet()), Mode.EXCLUSIVE, minHold);
  }

  /** As {@link #claim}, to share the lock. */
  static Claim reader(String lock) {
    return of(lock, new ClaimId(CLIENT, numbers.incrementAndGet()), Mode.SHARED, Duration.ZERO);
  }

  /** An INSERT of a row by which an exclusive claim of this id waits. */
  static String join(String lock, ClaimId id, Instant since, Instant until) {
    return "INSERT INTO pawl_waiter (lock_name, claims) VALUES ('"
        + lock
        + "', '[{\"since\":\""
        + since.truncatedTo(ChronoUnit.MILLIS)
        + "\",\"until\":\""
        + until.truncatedTo(ChronoUnit.MILLIS)
        + "\",\"mode\":\"exclusive\",\"host\":\"h\",\"pid\":1,\"thread\":\"t\",\"application\":\"\","
        + "\"note\":\"\",\"claim\":\""
        + id
        + "\",\"leaseMillis\":300000,\"tokens\":1,\"tokenFloor\":0}]')";
  }

  private static Claim of(String lock, ClaimId id, Mode mode, Duration minHold) {
    return new Claim(
        lock,
        id,
        mode,
        Duration.ofMinutes(5),
        minHold,
        true,
        1,
        0,
        false,
        new Holder("host", 1, "main", "", ""));
  }
}
