package io.pawl.redis;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/** The first connection: is it there, is it one that we can use? */
final class Handshake {

  private static final int[] OLDEST_REDIS = {7, 0};
  private static final int[] OLDEST_VALKEY = {8, 0};

  private static final int MOST_DIALS = 3;

  private Handshake() {}

  /**
   * Connects and asks the server who it is. Takes at most twice the timeout, and once more for each
   * of those that are asked in turn until then, since any may be silent.
   *
   * @throws StoreException that says what to change
   */
  static Wire connect(Servers servers, Failures failures, RedisOptions options, boolean tls) {
    long nanos = options.timeout().toNanos();
    Wire wire = dial(servers, failures, nanos, tls);
    try {
      check(hello(wire, failures, tls), servers, failures);
      return wire;
    } catch (RuntimeException | Error e) {
      wire.close();
      throw e;
    }
  }

  /** Another connection to servers that {@link #connect} has found good. */
  static Wire another(Servers servers, Failures failures, RedisOptions options, boolean tls) {
    return dial(servers, failures, options.timeout().toNanos(), tls);
  }

  private static Wire dial(Servers servers, Failures failures, long nanos, boolean tls) {
    for (int dials = 1; ; dials++) {
      try {
        return dialOnce(servers, failures, nanos, tls);
      } catch (StoreException e) {
        if (dials == MOST_DIALS || !Failures.isReasonLost(e)) {
          throw e;
        }
      }
    }
  }

  private static Wire dialOnce(Servers servers, Failures failures, long nanos, boolean tls) {
    CompletionStage<? extends StatefulConnection<String, String>> dialled;
    try {
      dialled = servers.dial();
    } catch (RuntimeException e) {
      throw failures.connecting(e, tls);
    }
    try {
      StatefulConnection<String, String> first =
          Uninterruptibly.get(dialled.toCompletableFuture(), (servers.askedInTurn() + 1) * nanos);
      return new Wire(servers, failures, nanos, first, dialled);
    } catch (ExecutionException | TimeoutException e) {
      closeWhenItComes(dialled);
      throw failures.connecting(e, tls);
    }
  }

  /** A client that is not ours has times of its own, and lives on. */
  private static void closeWhenItComes(
      CompletionStage<? extends StatefulConnection<String, String>> dialled) {
    dialled.whenComplete(
        (late, error) -> {
          if (late != null) {
            late.closeAsync();
          }
        });
  }

  /** The fields of HELLO, which every account may send, unlike INFO. */
  private static Map<String, String> hello(Wire wire, Failures failures, boolean tls) {
    try {
      return fields(
          Uninterruptibly.get(wire.send(CommandType.HELLO, new CommandArgs<>(StringCodec.UTF8))));
    } catch (ExecutionException e) {
      StoreException failure = failures.connecting(e, tls);
      if (failure instanceof StoreDeniedException
          || !String.valueOf(failure.getMessage()).contains("unknown command")) {
        throw failure;
      }
      throw tooOld("a server that does not know HELLO", failures);
    }
  }

  private static Map<String, String> fields(List<Object> hello) {
    Map<String, String> fields = new HashMap<>();
    for (int i = 0; i + 1 < hello.size() && i < 12; i += 2) {
      fields.put(String.valueOf(hello.get(i)), String.valueOf(hello.get(i + 1)));
    }
    return fields;
  }

  /** Whether that is what a replica answers to HELLO. */
  static boolean isReplica(List<Object> hello) {
    return isReplica(fields(hello));
  }

  private static void check(Map<String, String> hello, Servers servers, Failures failures) {
    if (servers.areFound() && isReplica(hello)) {
      throw failures.unavailable("was just demoted; its Sentinels name it still", null);
    }
    check(hello, servers.mode(), failures);
  }

  private static boolean isReplica(Map<String, String> hello) {
    return !hello.getOrDefault("role", "master").equals("master");
  }

  static void check(Map<String, String> hello, String mode, Failures failures) {
    String server = hello.getOrDefault("server", "redis");
    String version = hello.getOrDefault("version", "0");
    boolean valkey = server.equals("valkey");
    if (isOlder(version, valkey ? OLDEST_VALKEY : OLDEST_REDIS)) {
      throw tooOld((valkey ? "Valkey " : "Redis ") + version, failures);
    }
    String found = hello.getOrDefault("mode", mode);
    if (!found.equals(mode)) {
      String scheme =
          switch (found) {
            case "cluster" -> "is a node of a Cluster; write redis-cluster://";
            case "sentinel" -> "is a Sentinel; write redis-sentinel:// and master=<name>";
            default -> "is no Cluster; write redis:// or rediss:// for a single server";
          };
      throw new StoreConfigurationException("store '" + failures.where() + "': " + scheme);
    }
    if (mode.equals("standalone") && isReplica(hello)) {
      throw new StoreConfigurationException(
          "store '"
              + failures.where()
              + "': is a read-only replica; name its primary, or its Sentinels with"
              + " redis-sentinel://");
    }
  }

  private static StoreConfigurationException tooOld(String found, Failures failures) {
    return new StoreConfigurationException(
        "store '"
            + failures.where()
            + "': is "
            + found
            + "; Pawl needs Redis 7.0 or newer, or Valkey 8 or newer");
  }

  private static boolean isOlder(String version, int[] oldest) {
    String[] parts = version.split("\\.", -1);
    for (int i = 0; i < oldest.length; i++) {
      int part = i < parts.length && parts[i].matches("\\d{1,6}") ? Integer.parseInt(parts[i]) : 0;
      if (part != oldest[i]) {
        return part < oldest[i];
      }
    }
    return false;
  }
}
