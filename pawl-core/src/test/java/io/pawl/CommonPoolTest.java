package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.memory.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Who waits on a thread of the JVM's common pool. That pool has several threads on a machine of
 * three processors or more, and is what {@code runAsync} uses then: so this runs in a JVM that
 * believes in one.
 */
class CommonPoolTest {

  private static final Duration SHORT = Duration.ofMillis(100);

  enum Wait {
    STORE(pawl -> Uninterruptibly.await(new CompletableFuture<>(), SHORT.toNanos())),
    CANDIDACY(
        pawl -> {
          try (Candidacy candidacy = pawl.election("e").stand("c", lease -> end(SHORT))) {
            candidacy.awaitEnd();
            return candidacy;
          }
        }),
    GROUP(pawl -> pawl.lockAll("a", "b").tryAcquire(SHORT)),
    LOCK(pawl -> pawl.lock("a").tryAcquire(SHORT));

    private interface Action {
      Object on(Pawl pawl) throws Exception;
    }

    private final Action action;

    Wait(Action action) {
      this.action = action;
    }

    private static void end(Duration after) {
      Uninterruptibly.await(new CompletableFuture<>(), after.toNanos());
    }
  }

  /** It would run inside whatever the caller holds, and might wait for that. */
  @ParameterizedTest
  @EnumSource
  void aWaitRunsNoOtherTaskOfItsThread(Wait wait) throws Exception {
    Process child =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2",
                "-cp",
                System.getProperty("java.class.path"),
                Child.class.getName(),
                wait.name())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      String said = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(said.strip()).isEqualTo("waited alone");
    } finally {
      child.destroyForcibly();
    }
  }

  static final class Child {

    private Child() {}

    public static void main(String[] arguments) throws Exception {
      Wait wait = Wait.valueOf(arguments[0]);
      ForkJoinPool pool = ForkJoinPool.commonPool();
      CountDownLatch busy = new CountDownLatch(1);
      pool.execute(
          () -> {
            busy.countDown();
            Uninterruptibly.await(new CompletableFuture<>(), Duration.ofMinutes(1).toNanos());
          });
      busy.await();
      MemoryStore store = new MemoryStore();
      try (Pawl pawl = Pawl.over(store);
          Pawl other = Pawl.over(store)) {
        Optional<Lease> held = other.lock("a").tryAcquire();
        CompletableFuture<String> said = new CompletableFuture<>();
        pool.execute(() -> said.complete(wait(wait, pawl)));
        System.out.println(said.get());
        held.ifPresent(Lease::close);
      }
      System.exit(0);
    }

    private static String wait(Wait wait, Pawl pawl) {
      AtomicBoolean ran = new AtomicBoolean();
      CompletableFuture<Void> unused = CompletableFuture.runAsync(() -> ran.set(true));
      try {
        wait.action.on(pawl);
      } catch (Exception e) {
        return e.toString();
      }
      return ran.get() ? "ran another task meanwhile" : "waited alone";
    }
  }
}
