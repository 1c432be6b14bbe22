package io.pawl.servers;

import io.pawl.servers.Pump.End;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A client's connection and the proxy's own to the server, with one thread per direction. */
final class ProxiedConnection {
  private static final Logger log = LoggerFactory.getLogger(ProxiedConnection.class);
  private static final int CONNECT_MILLIS = 10_000;

  private final Socket client;
  private final Socket server = new Socket();
  private final Faults faults;
  private final Pump toServer;
  private final Pump toClient;
  private final Consumer<ProxiedConnection> onEnd;
  private final AtomicInteger openDirections = new AtomicInteger(2);

  ProxiedConnection(
      Socket client, Faults faults, Conversation conversation, Consumer<ProxiedConnection> onEnd) {
    this.client = client;
    this.faults = faults;
    this.onEnd = onEnd;
    this.toServer = new Pump(Direction.TO_SERVER, faults, conversation, client, server);
    this.toClient = new Pump(Direction.TO_CLIENT, faults, conversation, server, client);
  }

  /** Connects to the server, as soon as the line is whole, and pumps both ways. */
  void start(InetSocketAddress target, ExecutorService threads) {
    threads.execute(
        () -> {
          try {
            faults.awaitWhole();
            client.setTcpNoDelay(true);
            server.connect(target, CONNECT_MILLIS);
            server.setTcpNoDelay(true);
            threads.execute(() -> pump(toClient));
            pump(toServer);
          } catch (InterruptedException | IOException | RejectedExecutionException e) {
            reset(); // there is no server, or soon no proxy
          }
        });
  }

  private void pump(Pump pump) {
    try {
      End end = pump.run();
      if (end == End.RESET || (end == End.FINISHED && openDirections.decrementAndGet() == 0)) {
        end(end == End.RESET);
      }
    } catch (InterruptedException e) {
      reset(); // the proxy is being closed
    } catch (RuntimeException e) {
      log.warn("a proxied connection is reset", e);
      reset();
    }
  }

  /** Resets the connection if something that it should have delivered was lost. */
  void resetIfLossy() {
    if (toServer.isSilent() || toClient.isSilent()) {
      reset();
    }
  }

  /** Ends both connections with RST. */
  void reset() {
    end(true);
  }

  private void end(boolean abruptly) {
    end(client, abruptly);
    end(server, abruptly);
    onEnd.accept(this);
  }

  private static void end(Socket socket, boolean abruptly) {
    try (socket) {
      if (abruptly && !socket.isClosed()) {
        socket.setSoLinger(true, 0);
      }
    } catch (IOException e) {
      // It has ended already.
    }
  }
}
