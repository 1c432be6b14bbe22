package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Groups that wait for one another, where the store answers within the question. */
class GroupsAtOnceTest {

  private static final int GROUPS = 3_000;
  private static final Duration WAIT = Duration.ofSeconds(1);

  private final ManualTime time = new ManualTime();
  private final MemoryStore store = new MemoryStore(time::nanos);
  private final Engine engine = Engines.over(store, time, "client");

  private Requests requests(Engine of, String name) {
    return new Requests(
        of, new QueueKey(name, LockOptions.defaults().strictOrder(), Mode.EXCLUSIVE));
  }

  /** Each would give back what the next waits for, within what the one before gives back. */
  @Test
  void p8_nothingIsLeftBehind_ofManyGroupsWhoseWaitsEndTogether() {
    assertThat(requests(Engines.over(store, time, "other"), "b").tryAcquire()).isPresent();
    List<Requests> both = Stream.of("a", "b").map(name -> requests(engine, name)).toList();
    List<GroupAcquisition> groups = new ArrayList<>();
    for (int i = 0; i < GROUPS; i++) {
      GroupAcquisition group =
          new GroupAcquisition(engine, both, new Asker("thread", ""), WAIT.toNanos());
      group.start(false);
      groups.add(group);
    }

    time.pass(WAIT);

    assertThat(groups)
        .allSatisfy(
            group -> assertThat(group.outcome()).isCompletedWithValueMatching(g -> g.isEmpty()));
    assertThat(engine.isIdle()).isTrue();
  }
}
