package io.pawl.engine;

import org.jspecify.annotations.Nullable;

/**
 * What the observer hears of one loan: of its grant, and then of a loss that came before anybody
 * had heard of the grant; of neither where the grant was refused first. A loss that comes later is
 * told at once, since the observer may still be busy with the grant. Thread-safe.
 */
final class Hearing {

  private enum Of {
    NOTHING,
    GRANT,
    REFUSAL
  }

  private Of heard = Of.NOTHING;
  private @Nullable Runnable loss;

  /** Calls {@code tell}, and tells of a loss that came first; nothing after a refusal. */
  void grant(Runnable tell) {
    Runnable then;
    synchronized (this) {
      if (heard == Of.REFUSAL) {
        return;
      }
      heard = Of.GRANT;
      then = loss;
    }
    tell.run();
    if (then != null) {
      then.run();
    }
  }

  /** Calls {@code tell}, now or after the grant. */
  void loss(Runnable tell) {
    synchronized (this) {
      if (heard != Of.GRANT) {
        loss = tell;
        return;
      }
    }
    tell.run();
  }

  /** Whether nothing was told, and nothing will be. */
  synchronized boolean refuse() {
    if (heard == Of.NOTHING) {
      heard = Of.REFUSAL;
    }
    return heard == Of.REFUSAL;
  }
}
