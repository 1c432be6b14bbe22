package io.pawl.lab.stage;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.lab.stage.Trace.Mark;
import io.pawl.lab.stage.Trace.Span;
import io.pawl.lab.stage.Trace.Step;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** The witnesses see what they are there for. */
class TraceTest {

  private final Trace trace = new Trace();

  @Test
  void aHoldBesideOneThatBelievesItselfHeldIsAnOverlap() {
    trace.holds("A", "takes");
    trace.holds("B", "takes");
    assertThat(trace.overlaps()).isEqualTo(1);
    assertThat(trace.spans()).allMatch(Span::overlaps);
    assertThat(Finding.twoHolders(trace, "what").verdict()).isEqualTo(Verdict.TWO_HOLDERS);
    assertThat(Finding.standsUnlessShared(trace, "what", "seen").verdict())
        .isEqualTo(Verdict.TWO_HOLDERS);
  }

  @Test
  void aHolderThatKnowsOfItsLossOverlapsNobody() {
    AtomicBoolean valid = new AtomicBoolean(true);
    trace.holds("A", "takes", 1, valid::get);
    valid.set(false);
    trace.holds("B", "takes", 2, () -> true);
    assertThat(trace.overlaps()).isZero();
    assertThat(Finding.twoHolders(trace, "what").verdict()).isEqualTo(Verdict.NOT_REPRODUCED);
  }

  @Test
  void aHoldThatEndedOverlapsNobody() {
    trace.holds("A", "takes");
    trace.ends("A", "gives back");
    trace.holds("B", "takes");
    trace.dies("B", "dies");
    trace.holds("C", "takes");
    assertThat(trace.overlaps()).isZero();
    assertThat(trace.spans()).extracting(Span::to).containsExactly(1, 3, 4);
  }

  @Test
  void aWriteAfterAnotherHasHeldIsStale() {
    trace.holds("A", "takes");
    trace.writes("A", "writes");
    trace.holds("B", "takes");
    trace.writes("A", "writes");
    assertThat(trace.staleWrites()).isEqualTo(1);
    assertThat(trace.steps()).extracting(Step::mark).endsWith(Mark.STALE);
  }
}
