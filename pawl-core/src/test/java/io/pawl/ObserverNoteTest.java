package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an observer says of a request is shown to others beside it. */
class ObserverNoteTest {

  private static final ThreadLocal<String> trace = ThreadLocal.withInitial(() -> "");

  private final LockObserver observer =
      new LockObserver() {
        @Override
        public String noteFor(String lock) {
          if (lock.equals("broken")) {
            throw new IllegalStateException("a bug in the observer");
          }
          return trace.get();
        }
      };
  private final MemoryStore store = new MemoryStore();
  private final Pawl here = Pawl.over(store, PawlOptions.defaults().observer(observer));
  private final Pawl there = Pawl.over(store);

  @AfterEach
  void close() {
    trace.remove();
    here.close();
    there.close();
  }

  private List<String> notes(String lock) {
    return there.inspect(lock).holders().stream().map(LockSnapshot.Claimant::note).toList();
  }

  @Test
  void othersSeeTheNoteOfTheRequestThatHolds() throws Exception {
    trace.set("request 1");
    try (Lease lease = here.lock("a").acquire()) {
      trace.set("request 2");
      assertThat(notes("a")).containsExactly("request 1");
      try (Lease later = here.lock("b").acquireAsync().get();
          GroupLease group = here.lockAll("c", "d").acquire()) {
        assertThat(notes("b")).containsExactly("request 2");
        assertThat(notes("d")).containsExactly("request 2");
      }
    }
  }

  @Test
  void theNoteOfTheOptionsStandsBeforeItAndIsCutRatherThanIt() throws Exception {
    trace.set("request 1");
    try (Lease lease = here.lock("a", LockOptions.defaults().note("nightly")).acquire();
        Lease wordy = here.lock("b", LockOptions.defaults().note("x".repeat(300))).acquire()) {
      assertThat(notes("a")).containsExactly("nightly request 1");
      assertThat(notes("b")).containsExactly("x".repeat(246) + " request 1");
    }
  }

  @Test
  void anObserverThatFailsLeavesTheRequestAlone() throws Exception {
    try (Lease lease = here.lock("broken", LockOptions.defaults().note("nightly")).acquire()) {
      assertThat(notes("broken")).containsExactly("nightly");
    }
  }
}
