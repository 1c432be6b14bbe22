package io.pawl.redis;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One command on its way, with the connection that it went to and the time that it has. Lettuce may
 * send it more than once: where a Cluster redirects it, where a node that it went to is no longer
 * part of the Cluster, and, if the client is not ours, on a connection that was opened again. Only
 * the last copy is answered, and those that a node has redirected.
 */
final class Call extends AsyncCommand<String, String, List<Object>> {

  private final StatefulConnection<String, String> connection;
  private final long deadlineNanos;
  private final Failures failures;
  private final AtomicInteger copies = new AtomicInteger();
  private final FlatOutput output;

  Call(
      CommandType type,
      CommandArgs<String, String> args,
      StatefulConnection<String, String> connection,
      long deadlineNanos,
      Failures failures) {
    this(type, args, connection, deadlineNanos, failures, new FlatOutput());
  }

  private Call(
      CommandType type,
      CommandArgs<String, String> args,
      StatefulConnection<String, String> connection,
      long deadlineNanos,
      Failures failures,
      FlatOutput output) {
    super(new Command<>(type, output, args));
    this.output = output;
    this.connection = connection;
    this.deadlineNanos = deadlineNanos;
    this.failures = failures;
  }

  StatefulConnection<String, String> on() {
    return connection;
  }

  @Override
  public void encode(ByteBuf buffer) {
    copies.incrementAndGet();
    super.encode(buffer);
  }

  /** What Lettuce refuses to send, it says with an exception of just this class. */
  @Override
  public boolean completeExceptionally(Throwable error) {
    boolean isRefused = error.getClass() == RedisException.class && copies.get() == 0;
    return super.completeExceptionally(isRefused ? failures.notTaken(error) : error);
  }

  /**
   * Whether the answer may leave open what became of an earlier copy: one redirected did nothing.
   */
  boolean wasRepeated() {
    return copies.get() - output.redirects() > (output.isRedirect() ? 0 : 1);
  }

  boolean isOverdue(long nowNanos) {
    return nowNanos - deadlineNanos >= 0;
  }

  /** Whether a client that is not ours has given it up before its deadline. */
  boolean timedOut() {
    return isCompletedExceptionally()
        && handle((reply, error) -> error instanceof RedisCommandTimeoutException).join();
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
