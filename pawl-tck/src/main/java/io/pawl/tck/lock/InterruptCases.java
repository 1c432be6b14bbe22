package io.pawl.tck.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Pawl;
import io.pawl.spi.LockStore;
import io.pawl.tck.rig.Bench;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** What no wait of the caller's is part of goes on under an interrupt, and keeps it. */
public abstract class InterruptCases extends LockCases {

  protected InterruptCases(Bench bench) {
    super(bench);
  }

  /** Does {@code work} on an interrupted thread, which is one afterwards. */
  private <T> T interrupted(Callable<T> work) throws Exception {
    return bench
        .start(
            () -> {
              Thread.currentThread().interrupt();
              T result = work.call();
              assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
              return result;
            })
        .result();
  }

  @Test
  void anInterruptedThreadClosesAClientAndItsStore() throws Exception {
    LockStore store = bench.store();
    Pawl client = bench.keep(Pawl.over(store));
    client.lock(bench.lock("closed")).acquire().close();

    interrupted(
        () -> {
          client.close();
          store.close();
          return true;
        });
  }

  @Test
  void anInterruptedThreadOpensAStore() throws Exception {
    LockStore store = interrupted(bench::store);

    bench.keep(Pawl.over(store)).lock(bench.lock("opened")).acquire().close();
  }
}
