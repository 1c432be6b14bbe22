package io.pawl.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy on a loopback port of its own that simulates network faults. Faults apply to open and
 * new connections alike, add up, and last until {@link #heal()}.
 *
 * <p>The proxy does only what a network can do: bytes come late or never, but no byte is missing
 * before others. A connection that lost bytes is silent from then on, and {@code heal()} resets it.
 */
public final class FaultProxy implements AutoCloseable {

  /**
   * At the end of several statements, or alone behind the head of its packet; not READ COMMITTED
   * and autocommit, which are sent as a connection is set up or a transaction begins.
   */
  private static final List<String> COMMITS =
      List.of("; COMMIT", "\u0000COMMIT", "\u0000 COMMIT", "\u0001COMMIT", "\u0003COMMIT");

  /**
   * What becomes of a connection whose reply was dropped. Later replies never pass: they would be
   * taken for answers to earlier requests, which no network does.
   */
  public enum AfterDrop {
    /** It is reset at once, and the client learns of the loss. */
    RESET,
    /** It stays open and silent, and only a timeout tells, until {@link FaultProxy#heal()}. */
    SILENCE
  }

  private static final int BACKLOG = 1024;
  private static final int CLOSE_SECONDS = 10;
  private static final AtomicInteger threadNumbers = new AtomicInteger();

  private volatile InetSocketAddress target;
  private final boolean speaksResp;
  private final Function<Faults, Conversation> conversation;
  private final Port port = Port.reserve();
  private final Faults faults = new Faults();
  private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newCachedThreadPool(FaultProxy::thread);
  private @Nullable ServerSocket listener;
  private Future<?> accepting = CompletableFuture.completedFuture(null);

  private FaultProxy(InetSocketAddress target, boolean speaksResp) {
    this.target = target;
    this.speaksResp = speaksResp;
    this.conversation = speaksResp ? RespConversation::new : Conversation.Chunks::new;
    accept();
  }

  /**
   * Starts a proxy before any server; the proxy takes each chunk of bytes from the server for one
   * reply.
   */
  public static FaultProxy before(String host, int port) {
    return new FaultProxy(new InetSocketAddress(host, port), false);
  }

  /** As {@link #before(String, int)}. */
  public static FaultProxy before(ServerProcess server) {
    return before(server.host(), server.port());
  }

  /** Starts a proxy that understands RESP, before a server without TLS. */
  public static FaultProxy before(RedisServer server) {
    return new FaultProxy(new InetSocketAddress(server.host(), server.port()), true);
  }

  public String host() {
    return Port.HOST;
  }

  public int port() {
    return port.number();
  }

  /** Returns how many connections are open. */
  public int connections() {
    return connections.size();
  }

  /** Delivers bytes {@code delay} after they came. */
  public void delay(Direction direction, Duration delay) {
    faults.delay(direction, delay);
  }

  /** Delivers no more than {@code bytesPerSecond} on each connection. */
  public void throttle(Direction direction, long bytesPerSecond) {
    faults.throttle(direction, bytesPerSecond);
  }

  /** Swallows bytes and ends of connections, and tells neither side. */
  public void blackHole(Direction direction) {
    faults.blackHole(direction);
  }

  /**
   * Stops all traffic both ways, as a pulled cable does; {@link #heal()} delivers what came
   * meanwhile. New connections are accepted, as by a far end's backlog, and get no answer.
   */
  public void cut() {
    faults.cut();
  }

  /**
   * Forwards requests and drops the next {@code n} replies, whichever connection they come on.
   *
   * <p>A proxy that understands RESP takes a whole frame for a reply, and a push for none.
   *
   * @param requests whose replies, of any case; all if none is given. With RESP these are names of
   *     commands, else texts that a request contains, so without TLS
   */
  public void dropReplies(int n, AfterDrop then, String... requests) {
    faults.dropReplies(n, "", then, requests);
  }

  /**
   * Forwards of one reply what comes up to {@code last}, and then ends the connection as that of a
   * server that dies. Not where the proxy understands RESP.
   */
  public void breakOffReply(String last, String request) {
    faults.dropReplies(1, last, AfterDrop.RESET, request);
  }

  /**
   * As {@link #dropReplies}, of requests that commit, to MySQL, MariaDB and PostgreSQL.
   *
   * @param others what else commits, such as a statement in autocommit
   */
  public void dropCommits(int n, AfterDrop then, String... others) {
    dropReplies(n, then, Stream.concat(COMMITS.stream(), Stream.of(others)).toArray(String[]::new));
  }

  /** Returns whether {@link #dropPushes} can be asked for. */
  public boolean knowsPushes() {
    return speaksResp;
  }

  /** Drops published messages and nothing else; only where the proxy understands RESP. */
  public void dropPushes() {
    requireResp();
    faults.dropPushes();
  }

  /** Returns how many replies {@link #dropReplies} has dropped so far. */
  public int droppedReplies() {
    return faults.droppedReplies();
  }

  /**
   * Returns how many chunks of bytes have come from clients so far, delivered or not. A proxy that
   * understands RESP leaves out those by which servers look after each other.
   */
  public int requests() {
    return faults.requests();
  }

  /**
   * Returns how many round trips clients have begun: how often one sent something that had had an
   * answer to what it sent before. Not counted where the proxy understands RESP.
   */
  public int trips() {
    return faults.trips();
  }

  /** Returns how many messages {@link #dropPushes} has dropped so far. */
  public int droppedPushes() {
    return faults.droppedPushes();
  }

  /** Ends every open connection with RST, on both sides. */
  public void reset() {
    connections.forEach(ProxiedConnection::reset);
  }

  /** Sends new connections to {@code server}; open connections stay where they are. */
  public void leadTo(ServerProcess server) {
    target = new InetSocketAddress(server.host(), server.port());
  }

  /** Refuses new connections; open connections go on. */
  public synchronized void refuse() {
    if (listener == null) {
      return;
    }
    try {
      listener.close();
      accepting.get(); // until then the system may still accept
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      throw new ServerException(this + " failed to accept", e);
    }
    listener = null;
  }

  /** Ends every fault; a connection that lost bytes to one is reset. */
  public void heal() {
    faults.heal();
    connections.forEach(ProxiedConnection::resetIfLossy);
    accept();
  }

  /** Resets every connection and stops every thread. */
  @Override
  public void close() {
    refuse();
    faults.close();
    threads.shutdownNow();
    reset();
    try {
      if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        throw new ServerException(this + " left threads behind");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      port.close();
    }
  }

  private synchronized void accept() {
    if (listener != null) {
      return;
    }
    try {
      ServerSocket opened = new ServerSocket();
      opened.setReuseAddress(true);
      opened.bind(new InetSocketAddress(host(), port()), BACKLOG);
      listener = opened;
      accepting = threads.submit(() -> acceptFrom(opened));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void acceptFrom(ServerSocket opened) {
    try {
      while (true) {
        Socket client = opened.accept();
        ProxiedConnection connection =
            new ProxiedConnection(client, faults, conversation.apply(faults), connections::remove);
        connections.add(connection);
        try {
          connection.start(target, threads);
        } catch (RejectedExecutionException e) {
          connection.reset(); // the proxy is being closed
        }
      }
    } catch (IOException e) {
      // The listener was closed.
    }
  }

  private void requireResp() {
    if (!speaksResp) {
      throw new IllegalStateException(this + " does not understand RESP");
    }
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "pawl-fault-proxy-" + threadNumbers.incrementAndGet());
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public String toString() {
    return "proxy on port " + port() + " before " + target;
  }
}
