package io.pawl.etcd.gateway;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Ends;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One stream of watches, on a connection and a thread of its own. The gateway takes its requests
 * all at once, at the beginning. Thread-safe.
 */
public final class WatchStream implements AutoCloseable {

  public static final ThreadFactory THREADS = DaemonThreads.numbered("pawl-etcd-watch-");
  private static final Logger log = LoggerFactory.getLogger(WatchStream.class);
  private static final int LONGEST_LINE = 64 << 20;

  private final Gateway gateway;
  private final List<Watch> watches;
  private final Listener listener;
  private final Thread thread;
  private volatile @Nullable HttpConnection connection;
  private volatile boolean closed;
  private int created;

  /**
   * What is watched: all keys that begin with a prefix, or one key.
   *
   * @param key the prefix, which ends in a slash, or the key
   * @param from the first revision of interest
   * @param puts whether puts are of interest
   * @param deletions whether deletions are; at least one of the two
   */
  public record Watch(String key, boolean isPrefix, long from, boolean puts, boolean deletions) {}

  /**
   * What happened to a key.
   *
   * @param watch the position of its watch in the list
   * @param deleted whether it was deleted; otherwise it was put
   * @param createRevision of a key that was put; 0 of one that was deleted
   */
  public record Event(int watch, String key, boolean deleted, long revision, long createRevision) {}

  /** What hears of it; called on the stream's thread, and quickly returns. */
  public interface Listener {

    /**
     * etcd has taken all watches. The gateway loses those that it has not read before it writes its
     * first answer: then this is never called.
     */
    void started();

    void happened(List<Event> events);

    /** The watch ended: events may have been missed. */
    void ended(int watch);

    /** The stream ended: events of all its watches may have been missed from now on. */
    void broken();
  }

  private WatchStream(
      Gateway gateway, List<Watch> watches, Listener listener, ThreadFactory threads) {
    this.gateway = gateway;
    this.watches = List.copyOf(watches);
    this.listener = listener;
    this.thread = threads.newThread(this::run);
  }

  /**
   * @throws OutOfMemoryError where no thread can be started
   */
  public static WatchStream start(
      Gateway gateway, List<Watch> watches, Listener listener, ThreadFactory threads) {
    WatchStream stream = new WatchStream(gateway, watches, listener, threads);
    stream.thread.start();
    return stream;
  }

  public List<Watch> watches() {
    return watches;
  }

  private String body() {
    StringBuilder body = new StringBuilder();
    for (int i = 0; i < watches.size(); i++) {
      Watch watch = watches.get(i);
      body.append("{\"create_request\":{\"watch_id\":\"").append(i + 1);
      body.append("\",\"key\":\"").append(Json.encoded(watch.key()));
      if (watch.isPrefix()) {
        body.append("\",\"range_end\":\"").append(Json.encoded(Txn.end(watch.key())));
      }
      body.append("\",\"start_revision\":\"").append(watch.from());
      body.append('"');
      if (!watch.puts() || !watch.deletions()) {
        body.append(",\"filters\":[\"").append(watch.puts() ? "NODELETE" : "NOPUT").append("\"]");
      }
      body.append("}}\n");
    }
    return body.toString();
  }

  private void run() {
    try {
      long deadline = System.nanoTime() + gateway.target().timeout().toNanos();
      HttpConnection open = gateway.connect(deadline);
      connection = open;
      if (!closed && begin(open, deadline) == 200) {
        read(open);
      }
    } catch (IOException | RuntimeException e) {
      // whoever waits asks again on its own, and the stream is begun anew
      log.debug("a stream of watches ended", e);
    } finally {
      closeConnection();
      if (!closed) {
        listener.broken();
      }
    }
  }

  private int begin(HttpConnection open, long deadline) throws IOException {
    String token = gateway.token(open, deadline);
    return open.begin("/v3/watch", body(), token, deadline);
  }

  private void read(HttpConnection open) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (byte[] chunk = open.chunk(); chunk.length > 0 && !closed; chunk = open.chunk()) {
      for (byte next : chunk) {
        if (next != '\n') {
          line.write(next);
        } else if (line.size() > 0) {
          said(open.endpoint(), Json.object(line.toByteArray()));
          line.reset();
        }
      }
      if (line.size() > LONGEST_LINE) {
        throw new IOException("a watch has an event of more than 64 MiB");
      }
    }
  }

  private void said(Endpoint endpoint, Map<String, Object> message) {
    Map<String, Object> result = Json.object(message, "result");
    gateway.checkCluster(endpoint, result);
    int watch = (int) Json.number(result, "watch_id") - 1;
    if (result.isEmpty() || watch < 0 || watch >= watches.size()) {
      throw new IllegalArgumentException("a watch that is none of ours");
    }
    if (Json.flag(result, "created")) {
      created++;
      if (created == watches.size()) {
        listener.started();
      }
    }
    if (Json.flag(result, "canceled")) {
      listener.ended(watch);
      return;
    }
    List<Event> events =
        Json.objects(result, "events").stream().map(event -> event(watch, event)).toList();
    if (!events.isEmpty()) {
      listener.happened(events);
    }
  }

  private static Event event(int watch, Map<String, Object> event) {
    Map<String, Object> kv = Json.object(event, "kv");
    return new Event(
        watch,
        Json.decoded(Json.text(kv, "key")),
        Json.text(event, "type").equals("DELETE"),
        Json.number(kv, "mod_revision"),
        Json.number(kv, "create_revision"));
  }

  private void closeConnection() {
    HttpConnection open = connection;
    if (open != null) {
      open.close();
    }
  }

  /** Ends the stream; its listener hears nothing more of it but what is under way. */
  @Override
  public void close() {
    closed = true;
    closeConnection();
  }

  /** Waits for the end of its thread, for at most a second. */
  public void join() {
    if (thread != Thread.currentThread()) {
      Ends.of(thread);
    }
  }
}
