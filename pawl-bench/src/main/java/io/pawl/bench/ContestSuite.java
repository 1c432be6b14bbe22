package io.pawl.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** Rivals on one kind of store, and the loads under which they meet. */
public interface ContestSuite extends Suite {

  List<Rival> rivals();

  List<Contest> contests();

  /** Prepares the store; {@code folder} is empty and goes with the suite. */
  Ground open(Path folder);

  /** The store on which a suite runs. */
  interface Ground extends AutoCloseable {

    /** The address of a store in which nobody has left anything; one for each run. */
    String fresh();

    /** Operations that the store has served since it started, where it counts them. */
    default OptionalLong operations() {
      return OptionalLong.empty();
    }

    @Override
    default void close() {}
  }

  @Override
  default List<Section> measure(Settings settings, Consumer<String> progress) {
    return new ContestRunner(this, settings, progress).run();
  }

  default Rival rival(String name) {
    return rivals().stream()
        .filter(rival -> rival.name().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("suite " + name() + " has no rival '" + name + "'"));
  }
}
