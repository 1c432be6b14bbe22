package io.pawl.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import io.pawl.concurrent.Futures;
import io.pawl.redis.Scripts.Script;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs scripts: by their digest, and by their text where the server has not got them (any more).
 */
record Verbs(Wire wire, Failures failures) {

  /** 64 claims are halved six times, and at each step the server may have lost the script. */
  static final int MOST_REPEATS = 16;

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
    Call call = send(CommandType.EVALSHA, script.sha(), keys, values, through);
    call.whenComplete(
        (reply, error) -> {
          if (error instanceof RedisNoScriptException) {
            sendText(script, keys, values, through, answer, call.wasRepeated());
          } else {
            settle(answer, reply, error, call.wasRepeated());
          }
        });
    return answer;
  }

  /**
   * A command whose order among others counts.
   *
   * @param repeats how many of those were repeated so far, or parts of them by the caller
   * @param early told of an answer that does not count, for the rings in it
   */
  record Ordered(
      Script script,
      List<String> keys,
      List<String> values,
      AtomicInteger repeats,
      Consumer<List<Object>> early) {}

  /**
   * As {@link #run(Script, List, List)}, in order. A command that is repeated, since the server has
   * not got its script, takes effect after all that were sent before this was known. So each of
   * those is repeated behind it, which is harmless by the ids, and its last answer counts. Its
   * repetitions keep step with those of the commands before it, of which none is repeated more
   * often than {@link #MOST_REPEATS}: what is repeated after that is behind it.
   *
   * @param before how many were repeated when this was sent, or will have been at once
   */
  CompletableFuture<List<Object>> runInOrder(Ordered command, Repeats before) {
    return inOrder(command, CommandType.EVALSHA, command.script.sha(), before, MOST_REPEATS);
  }

  /**
   * How many commands were repeated before one is sent.
   *
   * @param counted done once this is so: where the one that is sent is a repetition itself, it is
   *     counted behind its sending, and its answer says nothing before
   */
  record Repeats(int count, CompletableFuture<?> counted) {

    private static final CompletableFuture<?> ALREADY = CompletableFuture.completedFuture(null);

    static Repeats soFar(int count) {
      return new Repeats(count, ALREADY);
    }

    /** With one that is {@linkplain #countIn counted} once all parts of it are sent. */
    static Repeats with(AtomicInteger repeats) {
      return new Repeats(repeats.get() + 1, new CompletableFuture<>());
    }

    /** What is sent from now on follows it. */
    void countIn(AtomicInteger repeats) {
      repeats.incrementAndGet();
      counted.complete(null);
    }
  }

  private CompletableFuture<List<Object>> inOrder(
      Ordered command, CommandType type, String script, Repeats before, int repeatsLeft) {
    CompletableFuture<List<Object>> answer = new CompletableFuture<>();
    Call call = send(type, script, command.keys, command.values, null);
    call.whenComplete(
        (reply, error) ->
            before.counted.thenRun(
                () -> {
                  try {
                    answered(command, type, before.count, repeatsLeft, call, reply, error, answer);
                  } catch (RuntimeException | Error e) { // of memory: who waits for it is answered
                    answer.completeExceptionally(e);
                  }
                }));
    return answer;
  }

  private void answered(
      Ordered command,
      CommandType type,
      int repeatsBefore,
      int repeatsLeft,
      Call call,
      @Nullable List<Object> reply,
      @Nullable Throwable error,
      CompletableFuture<List<Object>> answer) {
    AtomicInteger repeats = command.repeats;
    if (error instanceof RedisNoScriptException && type == CommandType.EVALSHA) {
      Repeats withThis = Repeats.with(repeats);
      CompletableFuture<List<Object>> text;
      try {
        text = inOrder(command, CommandType.EVAL, command.script.text(), withThis, repeatsLeft);
      } finally {
        withThis.countIn(repeats);
      }
      Futures.follow(answer, call.wasRepeated() ? inDoubt(text) : text);
    } else if (reply != null && repeats.get() != repeatsBefore && repeatsLeft > 0) {
      command.early.accept(reply);
      CompletableFuture<List<Object>> again =
          inOrder(
              command,
              CommandType.EVALSHA,
              command.script.sha(),
              Repeats.soFar(repeats.get()),
              repeatsLeft - 1);
      Futures.follow(answer, inDoubt(again));
    } else {
      settle(answer, reply, error, call.wasRepeated());
    }
  }

  private CompletableFuture<List<Object>> inDoubt(CompletableFuture<List<Object>> again) {
    return again.exceptionally(
        error -> {
          throw failures.doubtful(error);
        });
  }

  private void sendText(
      Script script,
      List<String> keys,
      List<String> values,
      @Nullable StatefulConnection<String, String> through,
      CompletableFuture<List<Object>> answer,
      boolean repeated) {
    try {
      Call call = send(CommandType.EVAL, script.text(), keys, values, through);
      call.whenComplete(
          (reply, error) -> settle(answer, reply, error, repeated || call.wasRepeated()));
    } catch (RuntimeException | Error e) {
      settle(answer, null, e, repeated);
    }
  }

  private void settle(
      CompletableFuture<List<Object>> answer,
      @Nullable List<Object> reply,
      @Nullable Throwable error,
      boolean repeated) {
    if (error != null) {
      if (failures.saysNoPrimary(error)) {
        wire.demoted();
      }
      answer.completeExceptionally(repeated ? failures.doubtful(error) : failures.of(error));
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
    ScriptArgs args = new ScriptArgs(script, keys, values);
    return through == null ? wire.send(type, args) : wire.send(type, args, through);
  }

  /**
   * What EVAL and EVALSHA take, written out by the thread that sends it, as one piece. A command
   * may have hundreds of words, and the connection's only thread would write each by itself, byte
   * by byte where Netty may not use {@code Unsafe}.
   */
  static final class ScriptArgs extends CommandArgs<String, String> {

    private static final int USUAL_BYTES_OF_A_WORD = 24;

    /** Of a word, beside its own bytes: a sign, its length, and two ends of line. */
    private static final int MOST_AROUND_A_WORD = 15;

    private final String script;
    private final List<String> keys;
    private final List<String> values;
    private byte[] written;
    private int length;

    /**
     * @param script its text or its hash
     */
    ScriptArgs(String script, List<String> keys, List<String> values) {
      super(StringCodec.UTF8);
      this.script = script;
      this.keys = keys;
      this.values = values;
      written = new byte[script.length() + USUAL_BYTES_OF_A_WORD * count()];
      write(script);
      write(Integer.toString(keys.size()));
      keys.forEach(this::write);
      values.forEach(this::write);
    }

    private void write(String word) {
      byte[] bytes = word.getBytes(UTF_8);
      int needed = length + bytes.length + MOST_AROUND_A_WORD;
      if (needed > written.length) {
        written = Arrays.copyOf(written, Math.max(needed, 2 * written.length));
      }
      written[length++] = '$';
      appendNumber(bytes.length);
      endLine();
      System.arraycopy(bytes, 0, written, length, bytes.length);
      length += bytes.length;
      endLine();
    }

    private void appendNumber(int number) {
      int end = length + 1;
      for (int rest = number; rest >= 10; rest /= 10) {
        end++;
      }
      int rest = number;
      for (int at = end - 1; at >= length; at--) {
        written[at] = (byte) ('0' + rest % 10);
        rest /= 10;
      }
      length = end;
    }

    private void endLine() {
      written[length++] = '\r';
      written[length++] = '\n';
    }

    @Override
    public int count() {
      return 2 + keys.size() + values.size();
    }

    @Override
    public void encode(ByteBuf buffer) {
      buffer.writeBytes(written, 0, length);
    }

    /** By which a Cluster's client chooses the node. */
    @Override
    public @Nullable ByteBuffer getFirstEncodedKey() {
      return keys.isEmpty() ? null : ByteBuffer.wrap(keys.get(0).getBytes(UTF_8));
    }

    @Override
    public String toCommandString() {
      return script
          + " "
          + keys.size()
          + " "
          + String.join(" ", keys)
          + " "
          + String.join(" ", values);
    }
  }
}
