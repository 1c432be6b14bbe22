package io.pawl;

import io.pawl.Election.Candidate;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.UserFailures;
import io.pawl.engine.Engine;
import io.pawl.engine.StoreCalls;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks at intervals who leads an election, until this watch is closed. See {@link Election#watch}.
 */
public final class LeaderWatch implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(LeaderWatch.class);

  private final Engine engine;
  private final Supplier<CompletionStage<Optional<Candidate>>> question;
  private final long everyNanos;
  private final Consumer<Optional<Candidate>> listener;
  private volatile boolean closed;
  private volatile Time.Pending next = () -> {};

  /**
   * The token that the listener was told last; only one question or call is under way at a time.
   */
  private @Nullable Optional<Long> last;

  LeaderWatch(
      Engine engine,
      Supplier<CompletionStage<Optional<Candidate>>> question,
      Duration every,
      Consumer<Optional<Candidate>> listener) {
    if (every.compareTo(Duration.ofMillis(100)) < 0 || every.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException(
          "watching every " + every + " is not between 100 ms and 1 day");
    }
    this.engine = engine;
    this.question = question;
    this.everyNanos = every.toNanos();
    this.listener = listener;
    engine.run(this::ask);
  }

  private void ask() {
    if (closed || engine.lifecycle().isClosed()) {
      return;
    }
    StoreCalls.call(question)
        .whenCompleteAsync(
            (leader, error) -> {
              if (error != null) {
                log.debug("asking who leads failed, asking again", error);
              } else if (!closed && !leader.map(Candidate::token).equals(last)) {
                last = leader.map(Candidate::token);
                tell(leader);
              }
              next = engine.time().after(everyNanos, () -> engine.run(this::ask));
              if (closed) {
                next.cancel();
              }
            },
            engine.workers().users());
  }

  private void tell(Optional<Candidate> leader) {
    try {
      listener.accept(leader);
    } catch (Throwable e) { // checked exceptions too: other languages throw them undeclared
      UserFailures.log(e, failure -> log.error("a listener of an election failed", failure));
    }
  }

  /** Stops asking; a call of the listener that is under way may still end. Idempotent. */
  @Override
  public void close() {
    closed = true;
    next.cancel();
  }
}
