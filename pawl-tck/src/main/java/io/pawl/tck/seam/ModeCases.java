package io.pawl.tck.seam;

import static io.pawl.spi.Mode.EXCLUSIVE;
import static io.pawl.spi.Mode.SHARED;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.rig.SeamClient.Hold;
import io.pawl.tck.rig.SeamClient.RecordingBell;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Exclusive and shared. */
public abstract class ModeCases extends SeamCases {

  protected ModeCases(Bench bench) {
    super(bench);
  }

  private boolean isHeld(SeamClient client, Claim claim) {
    return client.renew(claim) instanceof Standing.Held;
  }

  @Test
  void readersHoldTogether() {
    String lock = bench.lock("readers");
    here.ask(lock).mode(SHARED).take();
    there.ask(lock).mode(SHARED).take();
    here.ask(lock).mode(SHARED).withoutQueueing().take();

    assertThat(there.findsFree(lock)).isFalse();
  }

  @Test
  void aWriterWaitsForTheLastReader() {
    String lock = bench.lock("lastReader");
    Hold first = here.ask(lock).mode(SHARED).take();
    Hold second = there.ask(lock).mode(SHARED).take();
    Claim writer = there.ask(lock).stand();

    here.withdraw(first);
    assertThat(isHeld(there, writer)).isFalse();
    there.withdraw(second);
    assertThat(isHeld(there, writer)).isTrue();
  }

  @Test
  void aWriterIsNotOvertakenByReaders() {
    String lock = bench.lock("writer");
    Hold reader = here.ask(lock).mode(SHARED).take();
    Claim writer = there.ask(lock).mode(EXCLUSIVE).stand();
    Claim late = here.ask(lock).mode(SHARED).stand();
    Claim impatient = here.ask(lock).mode(SHARED).withoutQueueing().claim();
    assertThat(here.attempt(impatient)).isEqualTo(Standing.GONE);

    here.withdraw(reader);

    assertThat(isHeld(there, writer)).isTrue();
    assertThat(isHeld(here, late)).isFalse();
    there.withdraw(writer);
    assertThat(isHeld(here, late)).isTrue();
  }

  @Test
  void aRunOfReadersIsGrantedTogether() {
    String lock = bench.lock("run");
    Hold writer = here.take(lock);
    RecordingBell firstBell = new RecordingBell();
    RecordingBell secondBell = new RecordingBell();
    Claim first = there.ask(lock).mode(SHARED).claim();
    Claim second = here.ask(lock).mode(SHARED).claim();
    there.attempt(first, firstBell);
    here.attempt(second, secondBell);
    Claim nextWriter = there.ask(lock).stand();
    Claim behind = here.ask(lock).mode(SHARED).stand();

    here.withdraw(writer);

    Bench.eventually(() -> firstBell.hasRungHeld() && secondBell.hasRungHeld());
    assertThat(isHeld(there, first)).isTrue();
    assertThat(isHeld(here, second)).isTrue();
    assertThat(isHeld(there, nextWriter)).isFalse();
    assertThat(isHeld(here, behind)).isFalse();
  }

  @Test
  void readersBehindAWriterThatGivesUpAreGranted() {
    String lock = bench.lock("givesUp");
    here.ask(lock).mode(SHARED).take();
    Claim writer = there.ask(lock).stand();
    RecordingBell bell = new RecordingBell();
    Claim reader = here.ask(lock).mode(SHARED).claim();
    here.attempt(reader, bell);

    there.withdraw(writer);

    Bench.eventually(bell::hasRungHeld);
    assertThat(isHeld(here, reader)).isTrue();
  }

  @Test
  void aWriterBecomesAReaderWithoutAGap() {
    String lock = bench.lock("downgrade");
    Hold writer = here.ask(lock).tokens(3).take();
    RecordingBell bell = new RecordingBell();
    Claim reader = there.ask(lock).mode(SHARED).claim();
    there.attempt(reader, bell);
    Claim nextWriter = there.ask(lock).stand();
    Claim behind = there.ask(lock).mode(SHARED).stand();

    Claim shared = writer.claim().as(SHARED);
    assertThat(here.attempt(shared)).isEqualTo(writer.tokens());

    Bench.eventually(bell::hasRungHeld);
    assertThat(here.attempt(shared)).isEqualTo(writer.tokens());
    assertThat(here.renew(shared)).isEqualTo(writer.tokens());
    assertThat(isHeld(there, reader)).isTrue();
    assertThat(isHeld(there, nextWriter)).isFalse();
    there.withdraw(reader);
    assertThat(isHeld(there, nextWriter)).isFalse();
    here.withdraw(shared);
    assertThat(isHeld(there, nextWriter)).isTrue();
    assertThat(isHeld(there, behind)).isFalse();
  }

  @Test
  void aReaderNeverBecomesAWriter() {
    String lock = bench.lock("upgrade");
    Hold reader = here.ask(lock).mode(SHARED).take();

    assertThat(here.attempt(reader.claim().as(EXCLUSIVE))).isEqualTo(reader.tokens());

    there.ask(lock).mode(SHARED).take();
  }

  @Test
  void aWriterInLineThatWouldRatherReadKeepsItsPlaceAsAWriter() {
    String lock = bench.lock("rather");
    Hold reader = here.ask(lock).mode(SHARED).take();
    Claim writer = there.ask(lock).stand();

    assertThat(there.attempt(writer.as(SHARED))).isInstanceOf(Standing.Waiting.class);

    here.withdraw(reader);
    assertThat(isHeld(there, writer)).isTrue();
    assertThat(here.findsFree(lock)).isFalse();
  }

  /** The client serves them under the writer's hold, so that any other would be beside a writer. */
  @Test
  void aWriterIsFollowedByTheWritersOfItsClientDirectlyBehindItAlone() {
    String lock = bench.lock("followers");
    Hold hold = here.take(lock);
    RecordingBell bell = new RecordingBell();
    Claim first = there.ask(lock).tokens(9).claim();
    there.attempt(first, bell);
    Claim second = there.ask(lock).stand();
    there.ask(lock).mode(SHARED).stand();
    there.ask(lock).stand();

    assertThat(followers(hold, first, bell)).isSubsetOf(second.id());
  }

  @Test
  void aWriterIsNotFollowedOverTheHeadOfAnotherClient() {
    String lock = bench.lock("overtaken");
    Hold hold = here.take(lock);
    RecordingBell bell = new RecordingBell();
    Claim first = there.ask(lock).tokens(9).claim();
    there.attempt(first, bell);
    here.ask(lock).stand();
    there.ask(lock).stand();

    assertThat(followers(hold, first, bell)).isEmpty();
  }

  /** Nobody is served by a reader's hold: a writer would be beside readers, a reader need not. */
  @Test
  void aReaderHasNoFollowers() {
    for (Mode behind : List.of(EXCLUSIVE, SHARED)) {
      String lock = bench.lock("reader before " + behind);
      Hold hold = here.take(lock);
      RecordingBell bell = new RecordingBell();
      Claim reader = there.ask(lock).mode(SHARED).tokens(9).claim();
      there.attempt(reader, bell);
      there.ask(lock).mode(behind).stand();
      there.ask(lock).mode(behind).stand();

      assertThat(followers(hold, reader, bell)).isEmpty();
    }
  }

  /** All that {@code next} is granted with after {@code hold}, by the bell or when asked. */
  private List<ClaimId> followers(Hold hold, Claim next, RecordingBell bell) {
    here.withdraw(hold);
    Bench.eventually(bell::hasRungHeld);
    return Stream.concat(bell.rings().stream(), Stream.of(there.renew(next), there.attempt(next)))
        .filter(Standing.Held.class::isInstance)
        .flatMap(standing -> ((Standing.Held) standing).followers().stream())
        .toList();
  }
}
