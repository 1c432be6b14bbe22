package io.pawl.etcd.gateway;

import io.pawl.error.StoreException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Carries requests over a connection of its own, which it opens when it needs one. Used by one
 * thread at a time, but for {@link #end}.
 */
final class Carrier {

  /** How often the token of a request may be refused: rights may change meanwhile. */
  private static final int MOST_AUTHENTICATIONS = 3;

  /** Paths of what sees all that was answered before it was sent. */
  private static final String ORDERED = "/v3/kv/";

  private final Gateway gateway;
  private final Failures failures;
  private volatile @Nullable HttpConnection connection;

  Carrier(Gateway gateway, Failures failures) {
    this.gateway = gateway;
    this.failures = failures;
  }

  /** Carries requests to their answers, together; blocks, and throws nothing. */
  void serve(List<Call> batch) {
    List<Call> live = new ArrayList<>(batch.size());
    for (Call call : batch) {
      if (System.nanoTime() - call.deadline() > 0) {
        call.failed().accept(failures.unreachable(null, null));
      } else {
        live.add(call);
      }
    }
    if (!live.isEmpty()) {
      try {
        send(live, live.stream().allMatch(Call::repeats));
      } catch (RuntimeException | Error e) {
        live.forEach(call -> call.failed().accept(e));
      }
    }
  }

  /** A refusal concerns all of a batch though one request alone may be its reason. */
  private void send(List<Call> batch, boolean repeats) {
    Map<String, Object> reply;
    try {
      if (batch.size() > 1 && sendMerged(batch, repeats)) {
        return;
      }
      reply = exchange(batch, body(batch), repeats);
    } catch (RefusedException e) {
      if (batch.size() == 1) {
        throw e;
      }
      batch.forEach(call -> serve(List.of(call)));
      return;
    }
    if (batch.size() == 1) {
      batch.get(0).answered().accept(reply);
      return;
    }
    TxnReply all = TxnReply.of(reply, 0);
    boolean reads = txnOf(batch.get(0)).isPlainRead();
    int from = 0;
    for (int i = 0; i < batch.size(); i++) {
      int size = txnOf(batch.get(i)).size();
      batch.get(i).done().accept(reads ? all.part(from, size) : all.nested(i));
      from += size;
    }
  }

  private static String body(List<Call> batch) {
    return batch.size() == 1
        ? batch.get(0).body()
        : Txn.together(batch.stream().map(Carrier::txnOf).toList()).json();
  }

  /**
   * As a rule the conditions of all hold; false where those of one did not, and nothing is done.
   */
  private boolean sendMerged(List<Call> batch, boolean repeats) {
    Txn merged = Txn.merged(batch.stream().map(Carrier::txnOf).toList());
    if (merged == null) {
      return false;
    }
    TxnReply all = TxnReply.of(exchange(batch, merged.json(), repeats), 0);
    if (!all.succeeded()) {
      return false;
    }
    int from = 0;
    for (Call call : batch) {
      int count = txnOf(call).plainChanges();
      call.done().accept(all.part(from, count));
      from += count;
    }
    return true;
  }

  private Map<String, Object> exchange(List<Call> batch, String body, boolean repeats) {
    Call first = batch.get(0);
    long deadline = System.nanoTime() + gateway.target().timeout().toNanos();
    boolean mayAgain = repeats;
    int authentications = 0;
    String stale = null;
    while (true) {
      HttpConnection open = connected(deadline);
      HttpConnection.Response response;
      String used;
      long before = first.path().startsWith(ORDERED) ? gateway.revision() : 0;
      try {
        used =
            stale == null ? gateway.token(open, deadline) : reauthenticated(open, stale, deadline);
        if (open.isLast()) {
          disconnect();
          continue;
        }
        response = open.exchange("POST", first.path(), body, used, deadline);
        if (open.isLast()) {
          disconnect();
        }
      } catch (IOException e) {
        disconnect();
        gateway.endpoints().failed(open.endpoint());
        if (mayAgain && !gateway.isClosed()) {
          mayAgain = false;
          deadline = System.nanoTime() + gateway.target().timeout().toNanos();
          continue;
        }
        throw failures.silent(open.endpoint(), e);
      } catch (RuntimeException | Error e) { // the next answer there may be another request's
        disconnect();
        throw e;
      }
      StoreException refusal;
      if (response.status() == 200) {
        try {
          Map<String, Object> reply = parsed(response.body());
          gateway.checkCluster(open.endpoint(), reply);
          gateway.endpoints().reached();
          gateway.answered(reply, before);
          return reply;
        } catch (StoreException inTheBody) {
          refusal = inTheBody;
        }
      } else {
        refusal = failures.refused(response.status(), response.body(), first.path());
      }
      if (Gateway.isTokenInvalid(refusal)) {
        if (authentications++ == MOST_AUTHENTICATIONS) {
          throw failures.unauthenticated(refusal);
        }
        stale = used == null ? "" : used;
        continue;
      }
      if (!(refusal instanceof RefusedException)) {
        gateway.endpoints().failed(open.endpoint());
      }
      throw refusal;
    }
  }

  private @Nullable String reauthenticated(HttpConnection open, String stale, long deadline)
      throws IOException {
    return gateway.authenticate(open, stale, deadline);
  }

  /** The stream of {@code /v3/lease/keepalive} has one line, with the answer under a name. */
  private Map<String, Object> parsed(byte[] body) {
    Map<String, Object> reply;
    try {
      reply = Json.object(body);
    } catch (IllegalArgumentException e) {
      throw failures.unreadable(e);
    }
    if (reply.containsKey("error")) {
      throw failures.of(Json.text(Json.object(reply, "error"), "message"), 200);
    }
    return reply.containsKey("result") ? Json.object(reply, "result") : reply;
  }

  private HttpConnection connected(long deadline) {
    HttpConnection known = connection;
    if (known != null
        && known.endpoint().equals(gateway.endpoints().current())
        && !known.isStale()) {
      return known;
    }
    disconnect();
    HttpConnection opened = gateway.connect(deadline);
    connection = opened;
    if (gateway.isClosed()) {
      disconnect();
      throw failures.closed();
    }
    return opened;
  }

  private void disconnect() {
    HttpConnection known = connection;
    connection = null;
    if (known != null) {
      known.close();
    }
  }

  /** Closes its connection, whoever uses it. */
  void end() {
    HttpConnection known = connection;
    if (known != null) {
      known.close();
    }
  }

  private static Txn txnOf(Call call) {
    Txn txn = call.txn();
    if (txn == null) {
      throw new IllegalStateException(call.path() + " is no transaction");
    }
    return txn;
  }
}
