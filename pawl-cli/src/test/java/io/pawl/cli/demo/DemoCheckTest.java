package io.pawl.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.demo.DemoFiles.Content;
import io.pawl.cli.demo.DemoHistory.Event;
import io.pawl.cli.demo.DemoHistory.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemoCheckTest {

  private static Event grant(long pid, long token, long askedAt, long gotAt) {
    return new Event(Kind.GRANT, pid, token, askedAt, gotAt);
  }

  private static Event event(Kind kind, long pid, long token, long value) {
    return new Event(kind, pid, token, value, 0);
  }

  private static List<String> failures(long count, Event... events) {
    return new DemoCheck(List.of(events)).failures(new Content(0, count), 0);
  }

  @Test
  void oneHolderAfterTheOtherIsFine() {
    assertThat(
            failures(
                2,
                grant(1, 1, 10, 20),
                event(Kind.VALID, 1, 1, 30),
                event(Kind.ACCEPTED, 1, 1, 1),
                grant(2, 2, 15, 40),
                event(Kind.VALID, 2, 2, 50),
                event(Kind.ACCEPTED, 2, 2, 2)))
        .isEmpty();
  }

  @Test
  void twoHoldersAtOnceAreFound() {
    assertThat(failures(0, grant(1, 1, 10, 20), grant(2, 2, 15, 25), event(Kind.VALID, 1, 1, 30)))
        .containsExactly("leases 1 and 2 were valid at once");
  }

  @Test
  void tokensThatRepeatOrFallAreFound() {
    assertThat(failures(0, grant(1, 1, 10, 20), grant(2, 1, 30, 40)))
        .containsExactly("token 1 was granted twice");
    assertThat(failures(0, grant(1, 2, 10, 20), grant(2, 1, 30, 40)))
        .containsExactly("token 2 was granted before 1");
  }

  @Test
  void aFenceThatLeaksAndAWriteThatIsLostAreFound() {
    assertThat(failures(2, event(Kind.ACCEPTED, 2, 2, 1), event(Kind.ACCEPTED, 1, 1, 2)))
        .containsExactly("the fence let token 1 write after 2");
    assertThat(failures(1, event(Kind.ACCEPTED, 1, 1, 1), event(Kind.ACCEPTED, 2, 2, 2)))
        .containsExactly("the fenced file counts 1 after 2 writes");
  }

  @Test
  void aHolderMayBeKilledBetweenItsWriteAndItsNote() {
    DemoCheck noted = new DemoCheck(List.of(event(Kind.ACCEPTED, 1, 1, 1)));

    assertThat(noted.failures(new Content(2, 2), 1)).isEmpty();
    assertThat(noted.failures(new Content(2, 2), 0)).hasSize(1);
    assertThat(noted.failures(new Content(2, 0), 1)).hasSize(1);
  }
}
