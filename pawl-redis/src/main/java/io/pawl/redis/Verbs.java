package io.pawl.redis;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pawl.redis.Scripts.Script;
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

  /**
   * @param through one of the wire's connections, null for that which has the keys
   */
  CompletableFuture<List<Object>> run(
      Script script,
      List<String> keys,
      List<String> values,
      @Nullable StatefulConnection<String, String> through) {
    CompletableFuture<List<Object>> answer = new CompletableFuture<>();
    send(CommandType.EVALSHA, script.sha(), keys, values, through)
        .whenComplete(
            (reply, error) -> {
              if (error instanceof RedisNoScriptException) {
                Failures.caught(() -> send(CommandType.EVAL, script.text(), keys, values, through))
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
      if (failures.saysNoPrimary(error)) {
        wire.demoted();
      }
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
}
