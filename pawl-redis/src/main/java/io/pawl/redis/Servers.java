package io.pawl.redis;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/** Whom a store talks to: one primary, found directly or by Sentinels, or a Cluster of them. */
interface Servers extends AutoCloseable {

  /** A new connection that can be used for any lock. */
  CompletionStage<? extends StatefulConnection<String, String>> dial();

  /** A new connection that can subscribe. */
  CompletionStage<? extends StatefulRedisPubSubConnection<String, String>> dialBells();

  /** Which locks may share a command: those of the same number. */
  int group(String key);

  /** Which locks {@code connection} sends to the same server: those of the same number. */
  int server(StatefulConnection<String, String> connection, String key);

  /** The connection, one of those under {@code connection}, to the primary that has {@code key}. */
  CompletionStage<StatefulRedisConnection<String, String>> nodeOf(
      StatefulConnection<String, String> connection, String key);

  /**
   * Connections, under {@code connection}, to every primary by its address. One that is not open
   * yet is being opened.
   */
  Map<String, CompletionStage<StatefulRedisConnection<String, String>>> primaries(
      StatefulConnection<String, String> connection);

  /** What {@code HELLO} must answer for its mode. */
  String mode();

  /** Whether Sentinels say which server is the primary. */
  default boolean areFound() {
    return false;
  }

  /** Whoever is told of another primary, until it is closed. */
  interface Watch extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Runs {@code switched} when somebody says that another server has become the primary, on a
   * thread that may not block. Nobody does where no Sentinels are.
   *
   * @param wire whose client and timer it uses
   */
  default Watch watch(Wire wire, Runnable switched) {
    return () -> {};
  }

  /** Hosts and ports as they were given, for messages. */
  List<String> addresses();

  /** Without passwords. */
  String describe();

  /** Closes the client, where it is the store's own. */
  @Override
  void close();
}
