package io.pawl.lab.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.checker.Share;
import io.pawl.checker.Span;
import io.pawl.checker.Verdict;
import io.pawl.checker.Verdict.Ruling;
import io.pawl.lab.chaos.Ground.Store;
import io.pawl.lab.chaos.Notebook.End;
import io.pawl.lab.chaos.Notebook.Line;
import io.pawl.lab.chaos.Notebook.Page;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RimTest {

  private static final long MILLI = 1_000_000;

  @TempDir Path folder;

  private Notebook one;
  private Notebook other;

  @BeforeEach
  void open() {
    one = Notebook.of(folder, 0);
    other = Notebook.of(folder, 1);
  }

  private static Page held(Notebook notebook, Shape shape, long token, long asked, long granted) {
    Page page = notebook.ask(Subject.CLOSING, Share.EXCLUSIVE, shape);
    page.set(Line.ASKED, asked * MILLI);
    page.set(Line.TOKEN, token);
    page.set(Line.GRANTED, granted * MILLI);
    return page;
  }

  private List<String> broken(List<Span> late, Played... faults) {
    ChaosRun.Order order =
        new ChaosRun.Order(Library.PAWL, Store.REDIS, 1, 1_000, 1_000, List.of(), List.of());
    Chronicle chronicle =
        new Chronicle(folder, List.of(0, 1), Map.of(), List.of(faults), late, 0, List.of());
    return new Rim(order, chronicle, late)
        .judge().stream()
            .filter(verdict -> verdict.ruling() == Ruling.BROKEN)
            .map(Verdict::promise)
            .toList();
  }

  private Page waited(long millis) {
    Page page = one.ask(Subject.DEFAULT, Share.EXCLUSIVE, Shape.TRY).within(Duration.ofMillis(100));
    page.set(Line.ASKED, 10_000 * MILLI);
    page.set(Line.ENDED, (10_000 + millis) * MILLI);
    page.set(Line.END, End.NOT_GRANTED.ordinal());
    return page;
  }

  @Test
  void aBoundedWaitThatLastsTooLongIsFound() {
    waited(840);
    assertThat(broken(List.of())).isEmpty();
    waited(900);
    assertThat(broken(List.of())).singleElement().asString().startsWith("bounded");
  }

  @Test
  void aWaitOfWhoeverStoodStillIsExcused() {
    waited(5_000);
    Span stop = new Span(11_000 * MILLI, 14_000 * MILLI);
    assertThat(broken(List.of(stop))).isEmpty();
    Played own = new Played(Fault.Kind.WORKER_STOPPED, 0, "", stop.from(), stop.until(), 1);
    assertThat(broken(List.of(), own)).isEmpty();
    Played others = new Played(Fault.Kind.WORKER_STOPPED, 1, "", stop.from(), stop.until(), 1);
    assertThat(broken(List.of(), others)).hasSize(1);
  }

  @Test
  void whoeverIsLetInBesideABodyOfAClosedClientIsFound() {
    Page body = held(one, Shape.CLOSING, 7, 100, 110);
    body.set(Line.CLOSE_BEGAN, 500 * MILLI);
    body.ended(End.LOST);
    held(other, Shape.CLOSING, 8, 120, 510);
    assertThat(broken(List.of())).isEmpty();
    held(other, Shape.CLOSING, 9, 120, 400);
    assertThat(broken(List.of())).singleElement().asString().contains("closing");
  }

  @Test
  void whoeverComesAfterTheLeaseRanOutIsRight() {
    Page body = held(one, Shape.CLOSING, 7, 100, 110);
    body.set(Line.CLOSE_BEGAN, 5_000 * MILLI);
    body.ended(End.LOST);
    held(other, Shape.CLOSING, 9, 120, 1_150);
    assertThat(broken(List.of())).isEmpty();
  }

  @Test
  void aCallbackThatWaitsForItsBodyInVainIsFound() {
    Page page = held(one, Shape.ACQUIRE, 7, 100, 110);
    page.set(Line.JOINED, 1);
    assertThat(broken(List.of())).isEmpty();
    page.set(Line.JOINED, 2);
    assertThat(broken(List.of())).singleElement().asString().startsWith("callbacks");
  }
}
