package io.pawl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Threads that all do the same, started together and watched: one that never ends is a failure. */
public final class Rounds {

  /** What a thread does; its number starts at 0. */
  public interface Body {
    void run(int number) throws Exception;
  }

  private static final Duration WATCHDOG = Duration.ofSeconds(60);

  private Rounds() {}

  public static void together(int threads, Body body) {
    List<CompletableFuture<Void>> ends = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      ends.add(start(i, body));
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
            .orTimeout(WATCHDOG.toSeconds(), TimeUnit.SECONDS);
    for (CompletableFuture<Void> end : ends) {
      end.exceptionally(
          failure -> {
            all.completeExceptionally(failure); // the others may be waiting for this one
            return null;
          });
    }
    try {
      all.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof TimeoutException) {
        throw new AssertionError(whereTheyAre(), e);
      }
      throw e;
    }
  }

  private static String whereTheyAre() {
    StringBuilder text = new StringBuilder("somebody never ended:\n");
    Thread.getAllStackTraces()
        .forEach(
            (thread, frames) -> {
              if (thread.getName().startsWith("round-") || thread.getName().startsWith("pawl-")) {
                text.append(thread).append(' ').append(thread.getState()).append('\n');
                for (StackTraceElement frame : frames) {
                  text.append("    ").append(frame).append('\n');
                }
              }
            });
    return text.toString();
  }

  private static CompletableFuture<Void> start(int number, Body body) {
    CompletableFuture<Void> end = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                body.run(number);
                end.complete(null);
              } catch (Throwable e) {
                end.completeExceptionally(new CompletionException("thread " + number, e));
              }
            },
            "round-" + number);
    thread.setDaemon(true);
    thread.start();
    return end;
  }
}
