package io.pawl.bench.contest;

import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.report.Section;
import io.pawl.bench.rival.Rival;
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

    /** Processor time of the store's own processes since they started, where it has any. */
    default OptionalLong cpuNanos() {
      return OptionalLong.empty();
    }

    /** The least that a request costs this store by itself, in words; empty where unknown. */
    default List<String> floors() {
      return List.of();
    }

    /** What a reader has to know of it, such as settings on which the figures depend. */
    default List<String> notes() {
      return List.of();
    }

    /**
     * Whether the rows of the {@link Resource} show all that was done.
     *
     * @param writes how often a holder wrote
     */
    default void checkRows(String address, long writes) {}

    @Override
    default void close() {}
  }

  /** What the locks protect, for loads that write; used by all threads of a fork. */
  interface Resource extends AutoCloseable {

    /** Reads the row of this lock and writes it back, one larger, without any protection. */
    void modify(int lock);

    @Override
    default void close() {}
  }

  /** Rows on the store at {@code address}, where the suite has loads that write. */
  default Resource resource(String address) {
    throw new IllegalArgumentException("suite " + name() + " has no rows to write");
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
