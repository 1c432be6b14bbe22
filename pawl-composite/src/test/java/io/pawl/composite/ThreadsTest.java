package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Threads that outlive the request that was the first to need them. */
class ThreadsTest {

  private static final InheritableThreadLocal<String> IDENTITY = new InheritableThreadLocal<>();

  private record Context(Optional<String> identity, ClassLoader loader) {
    static Context here() {
      return new Context(
          Optional.ofNullable(IDENTITY.get()), Thread.currentThread().getContextClassLoader());
    }
  }

  @Test
  void noThreadHasAnythingOfItsFirstCaller() throws Exception {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    try (URLClassLoader foreign = new URLClassLoader(new URL[0]);
        Threads threads = new Threads()) {
      CompletableFuture<Context> worker = new CompletableFuture<>();
      CompletableFuture<Context> background = new CompletableFuture<>();
      IDENTITY.set("somebody");
      Thread.currentThread().setContextClassLoader(foreign);
      try {
        threads.soon(() -> worker.complete(Context.here()));
        threads.inBackgroundAfter(0, () -> background.complete(Context.here()));
      } finally {
        IDENTITY.remove();
        Thread.currentThread().setContextClassLoader(before);
      }
      Context own = new Context(Optional.empty(), Threads.class.getClassLoader());
      assertThat(worker.get(20, TimeUnit.SECONDS)).isEqualTo(own);
      assertThat(background.get(20, TimeUnit.SECONDS)).isEqualTo(own);
    }
  }
}
