package io.pawl.bench.rival;

import io.pawl.bench.BenchException;
import java.util.function.Function;

/** A way to take one from the counter that all threads of a contest share: a cycle is a take. */
public record TakingRival(String name, Function<String, Taker> connector) implements Rival {

  /** One JVM's connection to the counter. */
  public interface Taker extends AutoCloseable {

    /**
     * @param id of this take alone
     */
    boolean takeOne(String id);

    @Override
    void close();
  }

  @Override
  public Client connect(String address) {
    Taker taker = connector.apply(address);
    return new Client() {
      @Override
      public Turn lock(String thread) {
        return new Take(taker, thread + "-" + ProcessHandle.current().pid() + "-");
      }

      @Override
      public void close() {
        taker.close();
      }
    };
  }

  /** Takes of one thread; there is nothing to give back. */
  private static final class Take implements Turn {

    private final Taker taker;
    private final String prefix;
    private long number;

    Take(Taker taker, String prefix) {
      this.taker = taker;
      this.prefix = prefix;
    }

    @Override
    public long acquire() {
      if (!taker.takeOne(prefix + number++)) {
        throw new BenchException("nothing was left of what cannot run out");
      }
      return 0;
    }

    @Override
    public void release() {}
  }
}
