package io.pawl.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class PawlEndpointTest {

  private static final Set<Thread.State> WAITS =
      Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

  private final CountDownLatch listed = new CountDownLatch(1);
  private final ClassLoader own = PawlEndpointTest.class.getClassLoader();

  /** The JVM's own timer would have the context loader of the first who needs it, for ever. */
  @Test
  void aListLeavesNoThreadWithItsCallersClassLoader() throws Exception {
    ClassLoader callers = new ClassLoader(own) {};
    try (Pawl pawl = Pawl.over(new MemoryStore())) {
      PawlEndpoint endpoint = new PawlEndpoint(pawl, slowToList(new MemoryStore()));
      Thread caller = new Thread(() -> endpoint.overview(null));
      caller.setContextClassLoader(callers);
      caller.start();
      await().until(() -> WAITS.contains(caller.getState()));
      listed.countDown();
      caller.join();
      assertThat(Thread.getAllStackTraces().keySet())
          .noneMatch(thread -> thread.getContextClassLoader() == callers);
    }
  }

  private LockStore slowToList(MemoryStore memory) {
    Class<?>[] types = {LockStore.class, Inspectable.class};
    return (LockStore)
        Proxy.newProxyInstance(
            own,
            types,
            (proxy, method, arguments) -> {
              if (method.getName().equals("list")) {
                listed.await();
              }
              return method.invoke(memory, arguments);
            });
  }
}
