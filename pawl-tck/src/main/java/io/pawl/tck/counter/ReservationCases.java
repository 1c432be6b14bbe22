package io.pawl.tck.counter;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Counter;
import io.pawl.counter.Change;
import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome.Status;
import io.pawl.counter.Reservation;
import io.pawl.counter.Update;
import io.pawl.tck.rig.Bench;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Taken until confirmed, cancelled, or over. */
public abstract class ReservationCases extends CounterCases {

  protected ReservationCases(Bench bench) {
    super(bench);
  }

  private static void assertReserved(Reservation reservation, long left) {
    assertThat(reservation.isReserved()).as("%s", reservation).isTrue();
    assertThat(reservation.value()).isEqualTo(left);
  }

  @Test
  void whatIsReservedCannotBeTaken() {
    Counter counter = counter("reserved", 10);

    assertReserved(counter.reserve(7, LONG, OperationId.of("a")), 3);

    assertThat(elsewhere(counter).tryTake(4)).isEqualTo(new Change.Refused(3));
    assertThat(elsewhere(counter).reserve(4, LONG, OperationId.of("b")))
        .isEqualTo(new Reservation.Refused(3));
    assertThat(counter.read().reserved()).isEqualTo(7);
    assertThat(counter.outcome(OperationId.of("a")).status()).isEqualTo(Status.RESERVED);
    assertConserved(counter);
  }

  @Test
  void aConfirmedReservationIsTakenForGood() {
    Counter counter = counter("confirmed", 10);
    counter.reserve(7, bench.shortLease(), OperationId.of("a"));

    assertThat(elsewhere(counter).confirm(OperationId.of("a"))).isTrue();
    assertThat(counter.confirm(OperationId.of("a"))).isTrue();
    assertThat(counter.cancel(OperationId.of("a"))).isFalse();

    long start = System.nanoTime();
    Bench.passed(start, bench.shortLease().multipliedBy(2));
    assertThat(counter.get()).isEqualTo(3);
    assertThat(counter.read().reserved()).isZero();
    assertThat(counter.outcome(OperationId.of("a")).status()).isEqualTo(Status.CONFIRMED);
    assertConserved(counter);
  }

  @Test
  void aCancelledReservationReturnsOnce() throws Exception {
    Counter counter = counter("cancelled", 10);
    counter.reserve(7, LONG, OperationId.of("a"));

    assertThat(elsewhere(counter).cancel(OperationId.of("a"))).isTrue();
    assertThat(counter.async().cancel(OperationId.of("a")).get(20, TimeUnit.SECONDS)).isTrue();
    assertThat(counter.confirm(OperationId.of("a"))).isFalse();

    assertThat(counter.get()).isEqualTo(10);
    assertThat(counter.outcome(OperationId.of("a")).status()).isEqualTo(Status.CANCELLED);
    assertConserved(counter);
  }

  @Test
  void p7_conservation_anUnconfirmedReservationReturnsAtItsDeadlineOnce() {
    Counter counter = counter("expired", 10);
    long start = System.nanoTime();
    Reservation reservation = counter.reserve(7, bench.shortLease(), OperationId.of("a"));
    assertReserved(reservation, 3);

    eventually(() -> elsewhere(counter).get() == 10);

    Bench.assertKeptFor(bench.shortLease(), start);
    assertThat(counter.confirm(OperationId.of("a"))).isFalse();
    assertThat(counter.cancel(OperationId.of("a"))).isTrue();
    assertThat(counter.get()).isEqualTo(10);
    assertThat(counter.reserve(7, bench.shortLease(), OperationId.of("a"))).isEqualTo(reservation);
    assertThat(counter.get()).isEqualTo(10);
    assertThat(elsewhere(counter).tryTake(10)).isEqualTo(new Change.Applied(0));
    assertThat(counter.outcome(OperationId.of("a")).status()).isEqualTo(Status.EXPIRED);
    assertConserved(counter);
  }

  @Test
  void aTakeFindsWhatHasReturned() {
    Counter counter = counter("taken", 10);
    for (int i = 0; i < 5; i++) {
      counter.reserve(2, bench.shortLease(), OperationId.of("r" + i));
    }
    assertThat(counter.tryTake(1, OperationId.of("early"))).isEqualTo(new Change.Refused(0));

    eventually(() -> elsewhere(counter).tryTake(10).isApplied());

    assertThat(counter.get()).isZero();
    assertConserved(counter);
  }

  @Test
  void p7_conservation_thereIsAlwaysRoomForWhatReturns() {
    Counter counter = counter("room", 10);
    counter.update(Update.bounds(0, 10));
    counter.reserve(4, LONG, OperationId.of("a"));

    assertThat(counter.add(1)).isEqualTo(new Change.Refused(6));
    assertThat(counter.update(Update.set(7))).isEqualTo(new Change.Refused(6));
    assertThat(counter.update(Update.bounds(0, 9))).isEqualTo(new Change.Refused(6));
    assertThat(counter.cancel(OperationId.of("a"))).isTrue();
    assertThat(counter.get()).isEqualTo(10);
    assertConserved(counter);
  }

  @Test
  void aReservationRepeatedIsTheSame() {
    Counter counter = counter("repeated", 10);
    Reservation first = counter.reserve(4, LONG, OperationId.of("a"));

    assertThat(elsewhere(counter).reserve(4, LONG, OperationId.of("a"))).isEqualTo(first);
    assertThat(((Reservation.Reserved) first).until()).isAfter(Instant.EPOCH);
    assertThatThrownBy(() -> counter.reserve(4, LONG.plusSeconds(1), OperationId.of("a")))
        .isInstanceOf(OperationConflictException.class);
    counter.confirm(OperationId.of("a"));
    assertThat(counter.reserve(4, LONG, OperationId.of("a"))).isEqualTo(first);
    assertThat(counter.get()).isEqualTo(6);
  }

  @Test
  void aReservationThatIsCancelledBeforeItArrivesNeverArrives() {
    Counter counter = counter("unknown", 10);

    assertThat(counter.confirm(OperationId.of("a"))).isFalse();
    assertThat(counter.cancel(OperationId.of("b"))).isTrue();

    assertThatThrownBy(() -> elsewhere(counter).reserve(1, LONG, OperationId.of("b")))
        .isInstanceOf(OperationConflictException.class);
    assertReserved(counter.reserve(1, LONG, OperationId.of("a")), 9);
    assertThat(counter.confirm(OperationId.of("b"))).isFalse();
  }

  @Test
  void impossibleTimesAreRefused() {
    Counter counter = counter("times", 10);
    for (Duration ttl : List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofNanos(999_999))) {
      assertThatThrownBy(() -> counter.reserve(1, ttl, OperationId.of("a")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("ttl");
    }
    assertReserved(counter.reserve(1, Duration.ofSeconds(Long.MAX_VALUE), OperationId.of("a")), 9);
    assertThat(counter.read().reserved()).isEqualTo(1);
  }

  @Test
  void manyReservationsThatAreDueTogetherAllReturn() {
    Counter counter = counter("many", 1_500);
    bench.parallel(
        1_500,
        i -> assertReservedAny(counter.reserve(1, Duration.ofMillis(1), OperationId.of("r" + i))));

    eventually(() -> elsewhere(counter).get() == 1_500);

    assertConserved(counter);
  }

  private static void assertReservedAny(Reservation reservation) {
    assertThat(reservation.isReserved()).as("%s", reservation).isTrue();
  }
}
