package io.pawl.servers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Arrays;
import java.util.Locale;

/** Any protocol: each chunk that comes from the server is one reply, to the chunk sent last. */
final class Chunks implements Conversation {
  private static final byte[] NOTHING = {};

  private final Faults faults;
  private volatile byte[] lastRequest = NOTHING;
  private volatile boolean answered = true;

  Chunks(Faults faults) {
    this.faults = faults;
  }

  @Override
  public void request(byte[] bytes, int n) {
    lastRequest = Arrays.copyOf(bytes, n);
    if (answered) {
      answered = false;
      faults.noteTrip();
    }
  }

  @Override
  public Answer answer(byte[] bytes, int n) {
    answered = true;
    AfterDrop then = faults.takesReply(this::requestContains);
    return new Answer(then == null ? Arrays.copyOf(bytes, n) : NOTHING, then);
  }

  private boolean requestContains(String text) {
    return new String(lastRequest, ISO_8859_1).toUpperCase(Locale.ROOT).contains(text);
  }
}
