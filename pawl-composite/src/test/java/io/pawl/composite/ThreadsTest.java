package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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

  /** Fails as a JVM does that has as many threads as it may have. */
  private static Thread starving(AtomicBoolean starved, Runnable task) {
    Thread thread =
        new Thread(task, "test-worker") {
          @Override
          public void start() {
            if (starved.get()) {
              throw new OutOfMemoryError("unable to create native thread, says the test");
            }
            super.start();
          }
        };
    thread.setDaemon(true);
    return thread;
  }

  @Test
  void aWorkerThatThereIsRunsWhatNoOtherCanBeStartedFor() throws Exception {
    AtomicBoolean starved = new AtomicBoolean();
    try (Threads threads = new Threads(prefix -> task -> starving(starved, task))) {
      CompletableFuture<Void> first = new CompletableFuture<>();
      threads.soon(() -> first.complete(null));
      first.get(20, TimeUnit.SECONDS);
      starved.set(true);

      for (int i = 0; i < 3; i++) {
        CompletableFuture<Integer> later = new CompletableFuture<>();
        AtomicInteger runs = new AtomicInteger();
        threads.awaited().execute(() -> later.complete(runs.incrementAndGet()));
        assertThat(later.get(20, TimeUnit.SECONDS)).isEqualTo(1);
      }
    }
  }

  @Test
  void whatNoThreadCouldBeStartedForRunsOnce() throws Exception {
    AtomicBoolean starved = new AtomicBoolean(true);
    AtomicInteger runs = new AtomicInteger();
    try (Threads threads = new Threads(prefix -> task -> starving(starved, task))) {
      threads.soon(runs::incrementAndGet);
      starved.set(false);

      await().until(() -> runs.get() > 0);
      await().during(Duration.ofMillis(100)).until(() -> runs.get() == 1);
    }
  }
}
