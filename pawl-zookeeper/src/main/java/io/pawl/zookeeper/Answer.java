package io.pawl.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The answer to one request. ZooKeeper's client gives it on its event thread; once that has ended,
 * within the call that makes the request, while it holds monitors of its own. Such an answer is
 * kept until the call has returned, so that nobody's code ever runs under them.
 */
final class Answer<T extends @Nullable Object> {

  private final CompletableFuture<T> stage = new CompletableFuture<>();
  private final Thread requester = Thread.currentThread();

  /** Used by the requester alone. */
  private boolean sending = true;

  private @Nullable Runnable kept;

  private Answer() {}

  /** Makes a request, which {@code send} sends. */
  static <T extends @Nullable Object> CompletableFuture<T> to(Consumer<Answer<T>> send) {
    Answer<T> answer = new Answer<>();
    send.accept(answer);
    answer.sending = false;
    if (answer.kept != null) {
      answer.kept.run();
    }
    return answer.stage;
  }

  void is(T value) {
    settle(() -> stage.complete(value));
  }

  /** There is no such node. */
  void isNothing() {
    settle(() -> stage.complete(null));
  }

  /** By ZooKeeper's code for what became of it. */
  void is(int code, @Nullable String path, @Nullable T value) {
    settle(
        () -> {
          if (code == Code.OK.intValue()) {
            stage.complete(value);
          } else {
            stage.completeExceptionally(KeeperException.create(Code.get(code), path));
          }
        });
  }

  private void settle(Runnable settling) {
    if (Thread.currentThread() == requester && sending) {
      kept = settling;
    } else {
      settling.run();
    }
  }
}
