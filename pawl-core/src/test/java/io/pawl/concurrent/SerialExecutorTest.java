package io.pawl.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class SerialExecutorTest {

  private final List<Runnable> started = new ArrayList<>();
  private final SerialExecutor executor = new SerialExecutor(started::add, "tasks");
  private final List<Integer> ran = new ArrayList<>();

  @Test
  void aThousandWaitInTheirOrderAndMoreAreDropped() {
    for (int i = 0; i < 1_100; i++) {
      int number = i;
      executor.execute(() -> ran.add(number));
    }

    assertThat(started).hasSize(1);
    started.remove(0).run();

    assertThat(ran).hasSize(1_000).isSorted().endsWith(999);
    executor.execute(() -> ran.add(2_000));
    started.remove(0).run();
    assertThat(ran).endsWith(2_000);
  }

  @Test
  void whatARefusingExecutorLeavesRunsWithWhatComesNext() {
    AtomicBoolean refuses = new AtomicBoolean(true);
    SerialExecutor refused =
        new SerialExecutor(
            task -> {
              if (refuses.getAndSet(false)) {
                throw new RejectedExecutionException("scripted");
              }
              task.run();
            },
            "tasks");

    assertThatThrownBy(() -> refused.execute(() -> ran.add(1)))
        .isInstanceOf(RejectedExecutionException.class);
    refused.execute(() -> ran.add(2));

    assertThat(ran).containsExactly(1, 2);
  }
}
