package io.pawl.servers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.pawl.servers.FaultProxy.AfterDrop;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What one proxied connection says, so that single replies and pushes can be dropped from it. Each
 * method is called by one thread; bytes and count are the chunk just read.
 */
interface Conversation {
  /** Takes note of what passes to the server, and returns whether a user asks for something. */
  boolean request(byte[] bytes, int n);

  /** Returns what of this passes to the client. */
  Answer answer(byte[] bytes, int n);

  /**
   * Bytes for the client, and what becomes of the connection after them.
   *
   * @param then null if it just goes on
   */
  record Answer(byte[] bytes, @Nullable AfterDrop then) {}

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
    public boolean request(byte[] bytes, int n) {
      lastRequest = Arrays.copyOf(bytes, n);
      if (answered) {
        answered = false;
        faults.noteTrip();
      }
      return true;
    }

    @Override
    public Answer answer(byte[] bytes, int n) {
      answered = true;
      String last = faults.lastOfReply();
      int at = new String(bytes, 0, n, ISO_8859_1).indexOf(last);
      AfterDrop then = faults.takesReply(text -> at >= 0 && requestContains(text));
      return new Answer(Arrays.copyOf(bytes, then == null ? n : at + last.length()), then);
    }

    private boolean requestContains(String text) {
      return new String(lastRequest, ISO_8859_1).toUpperCase(Locale.ROOT).contains(text);
    }
  }
}
