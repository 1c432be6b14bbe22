package io.pawl.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.pawl.servers.EtcdServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A member that passes requests on to the leader, and stands still with some of them: it passes
 * them on when its client has long forgotten them.
 */
final class LateRequests implements AutoCloseable {

  private final EtcdServer server;
  private final HttpServer http;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<String> late = new CopyOnWriteArrayList<>();
  private volatile boolean keepsBack;

  LateRequests(EtcdServer server) throws IOException {
    this.server = server;
    this.http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(threads);
    http.createContext("/", this::handle);
    http.start();
  }

  String url() {
    return "etcd://127.0.0.1:" + http.getAddress().getPort() + "?timeout=400ms";
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      if (keepsBack && path.equals("/v3/kv/txn")) {
        late.add(body);
        return;
      }
      byte[] answer = server.post(path, body).getBytes(UTF_8);
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
    }
  }

  /** Transactions are taken in, and not answered. */
  void keepBack() {
    keepsBack = true;
  }

  /** Transactions are passed on again, but for those that were kept back. */
  void goOn() {
    keepsBack = false;
  }

  /** Passes on what was kept back; returns etcd's answers. */
  List<String> passOn() {
    return late.stream().map(body -> server.post("/v3/kv/txn", body)).toList();
  }

  @Override
  public void close() {
    http.stop(0);
    threads.shutdownNow();
  }
}
