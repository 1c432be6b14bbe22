package io.pawl.redis;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class ShutdownTest {

  /** It has been seen to miss the end of its last thread. */
  @Test
  void closingEndsThoughLettuceNeverSaysThatItsThreadsHaveEnded() throws Exception {
    ClientResources real = ClientResources.create();
    AtomicBoolean wasAsked = new AtomicBoolean();
    ClientResources silent =
        (ClientResources)
            Proxy.newProxyInstance(
                ShutdownTest.class.getClassLoader(),
                new Class<?>[] {ClientResources.class},
                (proxy, method, arguments) -> {
                  if (!method.getName().equals("shutdown")) {
                    return method.invoke(real, arguments);
                  }
                  wasAsked.set(true);
                  return new DefaultPromise<Boolean>(GlobalEventExecutor.INSTANCE);
                });
    RedisClient client = RedisClient.create(silent);
    try {
      CompletableFuture.runAsync(() -> Shutdown.of(client), task -> new Thread(task).start())
          .get(60, SECONDS);
      assertThat(wasAsked).isTrue();
    } finally {
      real.shutdown(0, 2, SECONDS);
    }
  }
}
