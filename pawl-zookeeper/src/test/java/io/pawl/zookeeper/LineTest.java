package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.zookeeper.Line.Before;
import io.pawl.zookeeper.Nodes.Queue;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

class LineTest {

  private static final String LOCK = "/pawl/locks/a";

  private static Queue queue(String mode, int from, int to) {
    List<String> names = new ArrayList<>();
    for (int i = from; i < to; i++) {
      names.add(mode + "-client." + i + "-1f-" + String.format("%010d", i));
    }
    return Queue.of(names, new Stat());
  }

  private static Line line(Mode mode, Kind kind, Queue first) {
    return new Line(mode, kind, first.places(), LOCK, 1);
  }

  private static void isGone(Line line) {
    for (Before each : line.next(100)) {
      line.isGone(each);
    }
  }

  @Test
  void ofThousandsBeforeAClaimOnlyTheNearestAreRemembered() {
    Line line = line(Mode.EXCLUSIVE, Kind.LOCK, queue("w", 0, 5_000));

    assertThat(line.remembered()).isLessThan(10);
    assertThat(line.isFree()).isFalse();
    assertThat(line.isShort()).isFalse();
  }

  @Test
  void aClaimWhoseNearestAreGoneIsNotFreeBeforeTheOthersWereListed() {
    Line line = line(Mode.EXCLUSIVE, Kind.LOCK, queue("w", 0, 5_000));
    for (int i = 0; i < 10 && !line.isShort(); i++) {
      isGone(line);
    }

    assertThat(line.isShort()).isTrue();
    assertThat(line.isFree()).isFalse();

    line.isListed(queue("w", 0, 1_000), 1_000);
    assertThat(line.isShort()).isFalse();
    assertThat(line.isFree()).isFalse();

    line.isListed(queue("w", 0, 1_000), 0);
    assertThat(line.isFree()).isTrue();
  }

  @Test
  void permitsThatMayBeFreeAreListedBeforeTheyAreGranted() {
    Line line = line(new Mode.Permits(1, 3), new Kind(3), queue("p1", 0, 1_000));
    assertThat(line.remembered()).isLessThan(10);

    line.setKind(new Kind(500));
    assertThat(line.isFree()).isFalse();
    assertThat(line.isShort()).isTrue();

    line.isListed(queue("p1", 0, 1_000), 1_000);
    assertThat(line.isFree()).isFalse();
    line.isListed(queue("p1", 0, 499), 499);
    assertThat(line.isFree()).isTrue();
  }

  @Test
  void whatWasHeardOfAClaimIsKnownAfterAList() {
    Line line = line(Mode.EXCLUSIVE, Kind.LOCK, queue("w", 0, 10));
    for (Before each : line.next(100)) {
      line.isThere(each, each.place.units(), each.signs());
    }
    assertThat(line.next(100)).isEmpty();

    line.isListed(queue("w", 0, 10), 10);

    assertThat(line.next(100)).isEmpty();
  }
}
