package io.pawl.etcd;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StaleTokenException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.KeyValue;
import io.pawl.etcd.gateway.Txn;
import io.pawl.etcd.gateway.TxnReply;
import io.pawl.spi.LockName;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Tokens;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Refuses the writes of a holder that has been superseded, inside etcd: one transaction compares
 * the token with the largest seen, remembers it, and writes the value. No clock decides: a value
 * under a smaller token than one already seen is not written, however long a process was paused.
 *
 * <pre>{@code
 * try (EtcdFence fence = EtcdFence.connect("etcd://10.0.0.1/pawl")) {
 *   try (Lease lease = lock.acquire()) {
 *     fence.write("report", text, lease.token());
 *   }
 * }
 * }</pre>
 *
 * <p>The largest token of a key is the value of {@code <namespace>/fence/<key>}, as {@link #text}
 * writes it, so that etcd compares it as a number. A program with an etcd client of its own
 * compares it in its own transaction; docs/ETCD.md shows how. It is kept for ever: delete it with
 * the value.
 *
 * <p>Thread-safe. Has connections of its own; close it at the end.
 */
public final class EtcdFence implements AutoCloseable {

  private static final int MOST_TRIES = 10;

  /** How many timeouts of a request a write waits at most for others of this object. */
  private static final int MOST_TIMEOUTS = 3;

  private static final int TURNS = 64;

  private final Gateway gateway;

  /** The largest revision that was seen, which a write compares: no write comes late. */
  private final AtomicLong seen = new AtomicLong();

  /** Of two writes under one key at the same time, one would find that the other was done since. */
  private final List<Semaphore> turns =
      Stream.generate(() -> new Semaphore(1, true)).limit(TURNS).toList();

  private final String namespace;

  private EtcdFence(EtcdUrl url) {
    this.gateway = new Gateway(url.target());
    this.namespace = url.namespace();
  }

  /**
   * Returns a fence over the cluster at {@code url}, whose form {@link EtcdProvider} explains. No
   * round trip.
   *
   * @throws IllegalArgumentException for an invalid URL, naming the part
   */
  public static EtcdFence connect(String url) {
    return new EtcdFence(EtcdUrl.parse(StoreUrl.parse(url)));
  }

  /**
   * Puts {@code value} under {@code key} if no larger token was seen for that key. One round trip,
   * and another where somebody else wrote since; threads that write under one key take turns. A
   * write that was not answered takes no effect any more once a later one of this object under the
   * same key was accepted.
   *
   * @param key the key itself, as any etcd client reads it: 1 to 512 bytes of UTF-8 without control
   *     characters
   * @throws StaleTokenException when a larger token was seen; nothing is written
   * @throws StoreUnavailableException when etcd did not answer: the value may have been written,
   *     and the same call may be repeated. Also when other threads' writes under the key, or one of
   *     a few others, took three timeouts of a request: then nothing was sent
   * @throws StoreException when etcd refused it
   */
  public void write(String key, String value, long token) {
    ask(key, token, Txn.put(key, value, 0));
  }

  /**
   * Accepts {@code token} if no larger one was seen for {@code resource}, without writing anything
   * else. A write that follows in another request can come after a later holder's write. One round
   * trip.
   *
   * @param resource the name of what is protected, as for a key of {@link #write}
   * @throws StaleTokenException when a larger token was seen
   */
  public void accept(String resource, long token) {
    ask(resource, token);
  }

  /** Returns the key that has the largest token seen for {@code key}. */
  public String fenceOf(String key) {
    return namespace + "/fence/" + LockName.check("key", key, LockName.MAX_BYTES);
  }

  /**
   * Returns {@code token} as it is stored: sixteen digits, so that the order of texts is that of
   * numbers.
   *
   * @throws IllegalArgumentException if it is not between 1 and 2<sup>53</sup> − 1
   */
  public static String text(long token) {
    if (token < 1 || token > Tokens.MAX) {
      throw new IllegalArgumentException("token: " + token + " is not between 1 and 2^53 - 1");
    }
    return String.format(Locale.ROOT, "%016d", token);
  }

  private void ask(String key, long token, Txn.Op... writes) {
    String fence = fenceOf(key);
    String text = text(token);
    List<Txn.Op> accepted =
        writes.length == 0
            ? List.of(Txn.put(fence, text, 0))
            : List.of(Txn.put(fence, text, 0), writes[0]);
    Semaphore turn = turns.get(Math.floorMod(fence.hashCode(), TURNS));
    if (!Uninterruptibly.tryAcquire(turn, MOST_TIMEOUTS * gateway.target().timeout().toNanos())) {
      throw StoreUnavailableException.unsent(
          "store '"
              + gateway.target()
              + "': '"
              + key
              + "' was not written, since writes of other threads took too long before it",
          null);
    }
    try {
      accept(key, token, fence, text, accepted);
    } finally {
      turn.release();
    }
  }

  private void accept(String key, long token, String fence, String text, List<Txn.Op> accepted) {
    for (int i = 0; i < MOST_TRIES; i++) {
      Txn asItWas = Txn.of(List.of(Txn.unchangedSince(fence, seen.get())), accepted, List.of());
      TxnReply reply =
          ask(
              Txn.of(
                  List.of(Txn.hasGreaterValue(fence, text)),
                  List.of(Txn.get(fence)),
                  List.of(Txn.nested(asItWas))));
      seen.accumulateAndGet(reply.revision(), Math::max);
      if (!reply.succeeded() && reply.nested(0).succeeded()) {
        return;
      }
      refuseIfStale(key, token, reply);
    }
    throw new StoreException(
        "the largest token of '" + key + "' changed " + MOST_TRIES + " times; try again");
  }

  private TxnReply ask(Txn txn) {
    try {
      return Uninterruptibly.join(gateway.txn(txn));
    } catch (RuntimeException e) {
      throw SharedLease.asUnchecked(e);
    }
  }

  private static void refuseIfStale(String key, long token, TxnReply reply) {
    if (reply.succeeded()) {
      throw new StaleTokenException(
          "token "
              + token
              + " for '"
              + key
              + "' is stale: "
              + largest(reply.found(0).get(0))
              + " has been here",
          token);
    }
  }

  private static long largest(KeyValue stored) {
    try {
      return Long.parseLong(stored.value());
    } catch (NumberFormatException e) {
      throw new StoreException(
          "key '"
              + stored.key()
              + "' has a value that is no token; put the largest token there, in sixteen digits",
          e);
    }
  }

  /** Ends its connections. Idempotent. */
  @Override
  public void close() {
    gateway.close();
  }
}
