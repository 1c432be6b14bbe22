package io.pawl.bench.contest;

import io.pawl.bench.Suite;
import io.pawl.bench.SuiteSource;
import io.pawl.bench.rival.JavaLocks;
import io.pawl.bench.rival.Rival;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;

/** Rivals that promise too much, and two that do not; only tests have it on their class path. */
public final class BrokenSuite implements ContestSuite, SuiteSource {

  static final String OPEN = "no lock";
  static final String STUCK = "stuck token";
  static final String CRASHING = "crashing";

  @Override
  public List<Suite> suites() {
    return List.of(this);
  }

  @Override
  public String name() {
    return "broken";
  }

  @Override
  public String purpose() {
    return "rivals that must be found out";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        new Scripted(OPEN, () -> 0),
        new Scripted(STUCK, () -> 7),
        new Scripted(
            CRASHING,
            () -> {
              throw new IllegalStateException("on purpose");
            }),
        new JavaLocks(true),
        new JavaLocks(false));
  }

  @Override
  public List<Contest> contests() {
    return List.of(
        new Contest("honest", Load.of(2, 1), List.of(JavaLocks.UNFAIR, JavaLocks.FAIR), List.of()),
        new Contest("open", Load.of(8, 1), List.of(OPEN), List.of()),
        new Contest("stuck", Load.of(1, 1), List.of(STUCK), List.of()),
        new Contest("crash", Load.of(2, 2), List.of(CRASHING), List.of()),
        new Contest("apart", Load.of(2, 1).inEachOf(2), List.of(JavaLocks.UNFAIR), List.of()));
  }

  @Override
  public Ground open(Path folder) {
    return () -> "nowhere";
  }

  private record Scripted(String name, LongSupplier tokens) implements Rival {

    @Override
    public Client connect(String address) {
      return lock ->
          new Turn() {
            @Override
            public long acquire() {
              return tokens.getAsLong();
            }

            @Override
            public void release() {}
          };
    }
  }
}
