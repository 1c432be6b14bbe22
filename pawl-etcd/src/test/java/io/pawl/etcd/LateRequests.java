package io.pawl.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.servers.EtcdServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * A member that passes requests on to the leader, and stands still with some of them: it passes
 * them on when its client has long forgotten them.
 */
final class LateRequests implements AutoCloseable {

  private static final Predicate<String> NONE = body -> false;

  private static final Predicate<String> CHANGE =
      body -> body.contains("request_put") && !body.contains("VERSION");

  /** Of the requests that read who stands before a claim. */
  private static final String LOOK = "sort_target";

  private static final Queue<CompletableFuture<Void>> NOTHING = new ConcurrentLinkedQueue<>();

  private final EtcdServer server;
  private final HttpServer http;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<String> late = new CopyOnWriteArrayList<>();
  private volatile Predicate<String> keepsBack = NONE;
  private volatile int status;
  private volatile String message = "";
  private volatile String strange = "";
  private volatile int strangeStatus;
  private volatile boolean closes;
  private volatile boolean copies;
  private final Queue<CompletableFuture<Void>> keptAnswers = new ConcurrentLinkedQueue<>();
  private final Queue<CompletableFuture<Void>> keptChanges = new ConcurrentLinkedQueue<>();
  private final AtomicInteger tokensRefused = new AtomicInteger();

  LateRequests(EtcdServer server) throws IOException {
    this.server = server;
    this.http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.setExecutor(threads);
    http.createContext("/", this::handle);
    http.start();
  }

  String url() {
    return "etcd://127.0.0.1:" + http.getAddress().getPort() + "?timeout=1s";
  }

  int port() {
    return http.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      if (closes) {
        exchange.getResponseHeaders().set("Connection", "close");
      }
      if (!strange.isEmpty()) {
        answer(exchange, strangeStatus, strange);
        return;
      }
      String path = exchange.getRequestURI().getPath();
      String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      if (path.equals("/v3/kv/txn") && keepsBack.test(body)) {
        late.add(body);
        if (status != 0) {
          answer(exchange, status, "{\"code\":2,\"message\":\"" + message + "\"}");
        }
        return;
      }
      if (path.equals("/v3/kv/txn") && copies) {
        late.add(body);
      }
      String token = exchange.getRequestHeaders().getFirst("Authorization");
      if (path.equals("/v3/kv/txn") && tokensRefused.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
        answer(exchange, 401, "{\"code\":16,\"message\":\"etcdserver: invalid auth token\"}");
        return;
      }
      await(CHANGE.test(body) ? keptChanges : NOTHING);
      String done = server.post(path, body, token);
      await(body.contains(LOOK) ? keptAnswers : NOTHING);
      answer(exchange, 200, done);
    }
  }

  private static void await(Queue<CompletableFuture<Void>> kept) {
    CompletableFuture<Void> until = kept.poll();
    if (until != null) {
      Uninterruptibly.join(until);
    }
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] answer = text.getBytes(UTF_8);
    exchange.sendResponseHeaders(status, answer.length);
    exchange.getResponseBody().write(answer);
  }

  /** Transactions are taken in, and not answered. */
  void keepBack() {
    keepsBack = body -> true;
  }

  /** As {@link #keepBack()}, of transactions that change a claim which is there. */
  void keepBackChanges() {
    keepsBack = CHANGE;
  }

  /** As {@link #keepBack()}, with an answer that says less than it seems. */
  void keepBackAndAnswer(int code, String text) {
    message = text;
    status = code;
    keepBack();
  }

  /** The next look at a queue is passed on, and its answer kept back until {@code until}. */
  void keepBackTheAnswer(CompletableFuture<Void> until) {
    keptAnswers.add(until);
  }

  boolean hasKeptTheAnswerBack() {
    return keptAnswers.isEmpty();
  }

  /** The next transaction that changes a claim which is there is passed on at {@code until}. */
  void keepBackTheChange(CompletableFuture<Void> until) {
    keptChanges.add(until);
  }

  boolean hasKeptTheChangeBack() {
    return keptChanges.isEmpty();
  }

  /** Transactions are passed on and answered, and a copy of each is kept back. */
  void copy() {
    copies = true;
  }

  /** The token of the next transactions is refused, {@code times} times. */
  void refuseTokens(int times) {
    tokensRefused.set(times);
  }

  /** Something else listens at its address: it answers all requests so. */
  void becomes(int code, String text) {
    strangeStatus = code;
    strange = text;
  }

  /** It closes each connection behind its next answer, and says so there. */
  void closeConnections() {
    closes = true;
  }

  /** How many transactions were taken in and not carried out. */
  int kept() {
    return late.size();
  }

  /** Whether something was kept back. */
  boolean isLate() {
    return !late.isEmpty();
  }

  /** Transactions are passed on again, but for those that were kept back. */
  void goOn() {
    keepsBack = NONE;
    copies = false;
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
