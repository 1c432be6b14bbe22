package io.pawl.etcd.gateway;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Uninterruptibly;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/**
 * The addresses of hosts. The system may look for one for as long as its name servers are silent,
 * and nobody can call it back: so it does on a thread of its own, one for each host at a time.
 * Thread-safe.
 */
final class Hosts implements AutoCloseable {

  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|.*:.*");

  /** Looks for a host, however long that takes. */
  interface Search {
    InetAddress find(String host) throws IOException;
  }

  private final Search search;
  private final ThreadFactory threads = DaemonThreads.numbered("pawl-etcd-host-");
  private final Map<String, CompletableFuture<InetAddress>> underWay = new ConcurrentHashMap<>();
  private volatile boolean closed;

  Hosts(Search search) {
    this.search = search;
  }

  /**
   * Returns the address of {@code host}, a name or an address, at the latest at {@code deadline},
   * or fails.
   *
   * @param deadline in terms of {@link System#nanoTime}
   */
  InetAddress find(String host, long deadline) throws IOException {
    if (ADDRESS.matcher(host).matches()) {
      return search.find(host);
    }
    CompletableFuture<InetAddress> found;
    try {
      found = underWay.computeIfAbsent(host, this::begin);
    } catch (Error e) { // of threads, where none can be started
      throw new IOException("nobody can look for its address: " + e.getMessage(), e);
    }
    if (closed) {
      throw closedException();
    }
    try {
      return Uninterruptibly.get(found, deadline - System.nanoTime());
    } catch (TimeoutException e) {
      throw new SocketTimeoutException("its address was not found in time");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException known ? known : new IOException(e.getCause());
    }
  }

  private CompletableFuture<InetAddress> begin(String host) {
    CompletableFuture<InetAddress> found = new CompletableFuture<>();
    threads
        .newThread(
            () -> {
              try {
                found.complete(search.find(host));
              } catch (IOException | RuntimeException | Error e) {
                found.completeExceptionally(e);
              } finally {
                underWay.remove(host, found);
              }
            })
        .start();
    return found;
  }

  private static IOException closedException() {
    return new IOException("the client was closed");
  }

  /** Whoever waits for an address fails. */
  @Override
  public void close() {
    closed = true;
    underWay.values().forEach(found -> found.completeExceptionally(closedException()));
  }
}
