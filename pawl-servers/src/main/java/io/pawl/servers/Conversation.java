package io.pawl.servers;

import org.jspecify.annotations.Nullable;

/**
 * What one proxied connection says, so that single replies and pushes can be dropped from it. Each
 * method is called by one thread; bytes and count are the chunk just read.
 */
interface Conversation {
  /** Takes note of what passes to the server. */
  void request(byte[] bytes, int n);

  /** Returns what of this passes to the client. */
  Answer answer(byte[] bytes, int n);

  /**
   * Bytes for the client, and what becomes of the connection after them.
   *
   * @param then null if it just goes on
   */
  record Answer(byte[] bytes, @Nullable AfterDrop then) {}
}
