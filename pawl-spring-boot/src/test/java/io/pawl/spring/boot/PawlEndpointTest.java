package io.pawl.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;

class PawlEndpointTest {

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
                Thread.sleep(100);
              }
              return method.invoke(memory, arguments);
            });
  }
}
