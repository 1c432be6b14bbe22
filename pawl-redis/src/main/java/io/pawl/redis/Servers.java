package io.pawl.redis;

import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Whom a store talks to: one primary, found directly or by Sentinels, or a Cluster of them. */
interface Servers extends AutoCloseable {

  /** A new connection that can be used for any lock. */
  CompletionStage<? extends StatefulConnection<String, String>> dial();

  /** How often in a row a dial may wait for a silent server, and succeed with another one. */
  default int askedInTurn() {
    return 1;
  }

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

  /**
   * What a Sentinel says of the primary.
   *
   * @param number another one whenever that may have changed, were it to the same address
   */
  record Primary(SocketAddress address, long number) {}

  /** Where a connection leads to. Lettuce opens it again by itself, perhaps to another server. */
  final class Place implements RedisConnectionStateListener {

    private volatile @Nullable SocketAddress address;
    private final Consumer<Place> reopened;

    /**
     * @param dialled has succeeded
     * @param reopened told when it may have become another one
     */
    Place(CompletionStage<?> dialled, Consumer<Place> reopened) {
      this.address = dialled instanceof ConnectionFuture<?> known ? known.getRemoteAddress() : null;
      this.reopened = reopened;
    }

    boolean isAt(SocketAddress other) {
      SocketAddress here = address;
      return here != null && isSame(here, other);
    }

    /** True where both are unknown, too. */
    boolean isSameAs(Place other) {
      SocketAddress there = other.address;
      return there == null ? address == null : isAt(there);
    }

    /** One may be resolved and the other not. */
    static boolean isSame(SocketAddress one, SocketAddress other) {
      return one.equals(other)
          || (one instanceof InetSocketAddress a
              && other instanceof InetSocketAddress b
              && a.getPort() == b.getPort()
              && (a.getHostString().equalsIgnoreCase(b.getHostString())
                  || isSameHost(numbers(a), numbers(b))));
    }

    private static boolean isSameHost(@Nullable InetAddress one, @Nullable InetAddress other) {
      return one != null && one.equals(other);
    }

    private static @Nullable InetAddress numbers(InetSocketAddress address) {
      InetAddress resolved = address.getAddress();
      return resolved == null
          ? NetUtil.createInetAddressFromIpAddressString(address.getHostString())
          : resolved;
    }

    @Override
    public void onRedisConnected(RedisChannelHandler<?, ?> handler, SocketAddress to) {
      address = to;
      reopened.accept(this);
    }
  }

  /** Whoever is told of the primary, until it is closed. */
  interface Watch extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Tells {@code named} whenever somebody says which server is the primary, on a thread that may
   * not block. Nobody does where no Sentinels are.
   *
   * @param wire whose timer it uses
   */
  default Watch watch(Wire wire, Consumer<Primary> named) {
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
