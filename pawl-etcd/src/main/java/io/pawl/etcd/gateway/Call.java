package io.pawl.etcd.gateway;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request on its way.
 *
 * @param txn the transaction, null if it is another request
 * @param repeats whether it may be sent again if no answer comes
 * @param deadline until when it has to be sent
 */
record Call(
    String path,
    String body,
    @Nullable Txn txn,
    boolean repeats,
    long deadline,
    Consumer<Map<String, Object>> answered,
    Consumer<TxnReply> done,
    Consumer<Throwable> failed) {

  static final String TXN = "/v3/kv/txn";

  static Call of(Txn txn, CompletableFuture<TxnReply> reply, Duration timeout) {
    return new Call(
        TXN,
        txn.json(),
        txn,
        !txn.changes(),
        System.nanoTime() + timeout.toNanos(),
        fields -> reply.complete(TxnReply.of(fields, 0)),
        reply::complete,
        reply::completeExceptionally);
  }

  static Call of(
      String path, String body, CompletableFuture<Map<String, Object>> reply, Duration timeout) {
    return new Call(
        path,
        body,
        null,
        true,
        System.nanoTime() + timeout.toNanos(),
        reply::complete,
        none -> {},
        reply::completeExceptionally);
  }
}
