package io.pawl.redis;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pawl.redis.Scripts.Script;
import io.pawl.spi.Claim;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts: by their digest, and by their text where the server has not got them (any more).
 */
record Verbs(Wire wire, Failures failures) {

  CompletableFuture<List<Object>> run(Script script, List<String> keys, List<String> values) {
    return run(script, keys, values, null);
  }

  private CompletableFuture<List<Object>> run(
      Script script,
      List<String> keys,
      List<String> values,
      @Nullable StatefulConnection<String, String> through) {
    CompletableFuture<List<Object>> answer = new CompletableFuture<>();
    send(CommandType.EVALSHA, script.sha(), keys, values, through)
        .whenComplete(
            (reply, error) -> {
              if (error instanceof RedisNoScriptException) {
                send(CommandType.EVAL, script.text(), keys, values, through)
                    .whenComplete((second, again) -> settle(answer, second, again));
              } else {
                settle(answer, reply, error);
              }
            });
    return answer;
  }

  private void settle(
      CompletableFuture<List<Object>> answer,
      @Nullable List<Object> reply,
      @Nullable Throwable error) {
    if (error != null) {
      answer.completeExceptionally(failures.of(error));
    } else {
      answer.complete(reply == null ? List.of() : reply);
    }
  }

  private Call send(
      CommandType type,
      String script,
      List<String> keys,
      List<String> values,
      @Nullable StatefulConnection<String, String> through) {
    CommandArgs<String, String> args =
        new CommandArgs<>(StringCodec.UTF8)
            .add(script)
            .add(keys.size())
            .addKeys(keys)
            .addValues(values);
    return through == null ? wire.send(type, args) : wire.send(type, args, through);
  }

  /**
   * Has {@code claim}'s hold and all that was written before it confirmed by replicas: the stage
   * fails where too few did, or where it is not held any more.
   */
  CompletableFuture<Long> replicated(
      Script renew, String address, Claim claim, RedisOptions options) {
    String key = Keys.of(claim.lock());
    return wire.nodeOf(key)
        .thenCompose(
            node -> {
              CommandArgs<String, String> args =
                  new CommandArgs<>(StringCodec.UTF8)
                      .add(options.waitReplicas())
                      .add(options.waitTimeout().toMillis());
              // WAIT is for what this connection has written, so the renewal has to come first
              return run(renew, List.of(key), Replies.addressAndIds(address, List.of(claim)), node)
                  .thenCompose(
                      standing ->
                          wire.send(CommandType.WAIT, args, node)
                              .thenApply(count -> enough(standing, count, options)));
            });
  }

  private Long enough(List<Object> standing, List<Object> count, RedisOptions options) {
    long confirmed = count.get(0) instanceof Long n ? n : 0;
    if (!(standing.get(0) instanceof Long token) || token < 1) {
      throw failures.unavailable("no longer knows the claim that it has just granted", null);
    }
    if (confirmed < options.waitReplicas()) {
      throw failures.unavailable(
          "had the grant confirmed by "
              + confirmed
              + " of "
              + options.waitReplicas()
              + " replicas within "
              + options.waitTimeout().toMillis()
              + " ms, so it was given back",
          null);
    }
    return confirmed;
  }
}
