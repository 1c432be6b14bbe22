package io.pawl.bench.suite;

import io.pawl.Pawl;
import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Load;
import io.pawl.bench.rival.JavaLocks;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.Rival;
import io.pawl.memory.MemoryStore;
import java.nio.file.Path;
import java.util.List;

/** The engine and the grant rule alone, beside the locks of the JDK. */
final class MemorySuite implements ContestSuite {

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public String purpose() {
    return "the engine on the memory store, beside ReentrantLock";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        PawlRival.passing("memory").openedBy(address -> Pawl.over(new MemoryStore())),
        PawlRival.strict("memory").openedBy(address -> Pawl.over(new MemoryStore())),
        PawlRival.sticky("memory").openedBy(address -> Pawl.over(new MemoryStore())),
        new JavaLocks(true),
        new JavaLocks(false));
  }

  @Override
  public List<Contest> contests() {
    return List.of(
        new Contest(
            "free lock, 1 thread",
            Load.of(1, 1),
            List.of(PawlRival.PASSING, PawlRival.STRICT, PawlRival.STICKY, JavaLocks.UNFAIR),
            List.of(OneLock.A_MILLION_STICKY)),
        new Contest(
            "64 locks, 64 threads",
            Load.of(64, 64),
            List.of(PawlRival.PASSING, PawlRival.STRICT, JavaLocks.UNFAIR),
            List.of()),
        OneLock.contest());
  }

  @Override
  public Ground open(Path folder) {
    return () -> "memory";
  }
}
