package io.pawl.engine;

import io.pawl.spi.Holder;

/**
 * Who makes a request, as others see it beside the claim that is made for it.
 *
 * @param note of the observer's, beside that of the lock's options
 */
public record Asker(String thread, String note) {

  /** The current thread, which asks for {@code lock}. */
  public static Asker here(Engine engine, String lock) {
    return new Asker(Thread.currentThread().getName(), engine.observer().noteFor(lock));
  }

  /** Beside the note of its options; where both are too long, that one is cut. */
  String noteBeside(String usual) {
    if (note.isEmpty() || usual.isEmpty()) {
      return note.isEmpty() ? usual : note;
    }
    int room = Math.max(0, Holder.MAX_LENGTH - 1 - note.length());
    return usual.substring(0, Math.min(room, usual.length())) + " " + note;
  }
}
