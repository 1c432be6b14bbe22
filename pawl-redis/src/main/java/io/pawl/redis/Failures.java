package io.pawl.redis;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.protocol.RedisProtocolException;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * What went wrong, as the one exception that says what to change. An error is {@link
 * StoreUnavailableException} where the same request may succeed later, and then the outcome of this
 * one is taken for unknown.
 *
 * @param where the server as given, without passwords
 */
record Failures(String where) {

  private static final Set<String> OF_THE_SERVER =
      Set.of(
          "LOADING",
          "MASTERDOWN",
          "CLUSTERDOWN",
          "READONLY",
          "BUSY",
          "MISCONF",
          "NOREPLICAS",
          "NOAUTH",
          "WRONGPASS");

  private static final String NO_PRIMARY_NOW =
      "became a replica before others had confirmed; the outcome is unknown";

  private static final Set<String> NO_PRIMARY = Set.of("READONLY", "MASTERDOWN");

  /** A request failed. */
  StoreException of(@Nullable Throwable error) {
    if (error == null) {
      return unavailable("said nothing", null);
    }
    Throwable cause = unwrapped(error);
    if (cause instanceof StoreException known) {
      return known;
    }
    if (cause instanceof RedisCommandExecutionException answered) {
      return answered(String.valueOf(answered.getMessage()), cause);
    }
    if (find(cause, RedisProtocolException.class) != null) {
      return unavailable("answers what is not the Redis protocol; check what listens there", cause);
    }
    if (cause instanceof RedisCommandTimeoutException) {
      return unavailable("gave no answer: " + cause.getMessage(), cause);
    }
    return unavailable("cannot be reached: " + cause.getMessage() + refusalIn(cause), cause);
  }

  /** A request failed that may have been applied all the same, whatever was said last. */
  StoreException doubtful(@Nullable Throwable error) {
    StoreException last = of(error);
    return isDoubtful(last)
        ? last
        : new StoreUnavailableException(
            last.getMessage() + "; a copy before it may have been applied", last.getCause());
  }

  /** A grant was not confirmed, and may stand: that its confirmation was not sent says nothing. */
  StoreException unconfirmed(@Nullable Throwable error) {
    StoreException last = of(error);
    return last instanceof StoreUnavailableException ? doubtful(last) : last;
  }

  /** Whether what failed may have been applied. */
  boolean isDoubtful(Throwable error) {
    return error instanceof StoreUnavailableException unavailable && !unavailable.isUnsent();
  }

  StoreUnavailableException unavailable(String what, @Nullable Throwable cause) {
    return new StoreUnavailableException(say(what), cause);
  }

  StoreUnavailableException noAnswer(long millis) {
    return unavailable("gave no answer within " + millis + " ms; the outcome is unknown", null);
  }

  /** A request that stood behind others for so long. */
  StoreUnavailableException notSent(long nanos) {
    return StoreUnavailableException.unsent(
        say(
            "has not answered earlier requests for "
                + nanos / 1_000_000
                + " ms; this one was not sent"),
        null);
  }

  /**
   * A request that finds no connection, while one is dialled.
   *
   * @param dialled why the last dial failed, null where none has
   */
  StoreUnavailableException notConnected(@Nullable Throwable dialled) {
    String refusal = dialled == null ? "" : refusalIn(dialled);
    return StoreUnavailableException.unsent(
        say("cannot be reached: there is no connection" + refusal + "; this request was not sent"),
        null);
  }

  /** Why a server lets nobody in, where it has said that to whoever dialled. */
  private static String refusalIn(Throwable dialled) {
    RedisCommandExecutionException refusal = find(dialled, RedisCommandExecutionException.class);
    return refusal == null ? "" : ", and a connection is refused: " + refusal.getMessage();
  }

  /** A request that Lettuce refuses, as where as many are under way as its client allows. */
  StoreUnavailableException notTaken(Throwable cause) {
    return StoreUnavailableException.unsent(
        say("cannot be asked: " + cause.getMessage() + "; this request was not sent"), cause);
  }

  /** A request that comes after the store's close. */
  StoreUnavailableException closed() {
    return StoreUnavailableException.unsent(say("is closed"), null);
  }

  /** A request that finds too many others waiting. */
  StoreUnavailableException noRoom() {
    return StoreUnavailableException.unsent(
        say("is asked more than it answers: too many requests wait; this one was not sent"), null);
  }

  /** A node of a quorum that may have forgotten what it granted. */
  StoreUnavailableException noVoteYet(long millis) {
    return StoreUnavailableException.unsent(
        say(
            "may have forgotten claims, since it was started or emptied; it votes again "
                + (millis > 0
                    ? "in " + millis + " ms"
                    : "once a client has told it the tokens of a majority of the other nodes")),
        null);
  }

  StoreConfigurationException otherLongestLease() {
    return new StoreConfigurationException(
        say(
            "was made a node of a quorum with another longestLease; give all clients the same, or"
                + " delete the key pawl:quorum on each node, one longest lease after the last"
                + " client with the old one has ended"));
  }

  /** Whether what was said of a command for several claims may have been meant for some of them. */
  boolean mayConcernOneClaim(Throwable error) {
    return unwrapped(error).getCause() instanceof RedisCommandExecutionException answered
        && !OF_THE_SERVER.contains(code(String.valueOf(answered.getMessage())));
  }

  /** Whether the server refused a command as a whole, so that no script has begun. */
  boolean ranNothing(Throwable error) {
    if (error instanceof StoreUnavailableException unavailable) {
      return unavailable.isUnsent();
    }
    String message = error.getCause() == null ? "" : String.valueOf(error.getCause().getMessage());
    return error instanceof StoreDeniedException
        && code(message).equals("NOPERM")
        && !saysThatAScriptLacksARight(message);
  }

  /** Whether the server answered that it is a replica, of a primary that it has or has lost. */
  boolean saysNoPrimary(Throwable error) {
    return unwrapped(error) instanceof RedisCommandExecutionException answered
        && NO_PRIMARY.contains(code(String.valueOf(answered.getMessage())));
  }

  /** {@code asked} of one key; empty where that holds what no script of ours has written. */
  <T> CompletableFuture<Optional<T>> orEmptyWhereUnreadable(CompletableFuture<Optional<T>> asked) {
    return asked.exceptionally(
        error -> {
          StoreException failure = of(error);
          if (isAboutData(failure)) {
            return Optional.empty();
          }
          throw failure;
        });
  }

  /** Whether a key is of another type, or such that a script of ours has failed at it. */
  boolean isAboutData(Throwable error) {
    if (error instanceof StoreDeniedException
        || !(error.getCause() instanceof RedisCommandExecutionException answered)) {
      return false;
    }
    String message = String.valueOf(answered.getMessage());
    String code = code(message);
    return code.equals("WRONGTYPE") || message.startsWith("ERR user_script:");
  }

  private static String code(String message) {
    int space = message.indexOf(' ');
    return space < 0 ? message : message.substring(0, space);
  }

  private StoreException answered(String message, @Nullable Throwable cause) {
    return switch (code(message)) {
      case "LOADING" -> refused("is still loading its data", cause);
      case "MASTERDOWN" -> refused("is a replica that has lost its primary", cause);
      case "CLUSTERDOWN" ->
          refused("is a Cluster that does not serve every slot: " + message, cause);
      case "TRYAGAIN", "MOVED", "ASK" -> refused("is moving slots: " + message, cause);
      case "READONLY" ->
          refused(
              "is a read-only replica now; name the primary, the Sentinels or the Cluster", cause);
      case "BUSY" -> refused("is busy with a script that does not end; SCRIPT KILL it", cause);
      case "OOM" -> refused("is out of memory and takes nothing new; raise maxmemory", cause);
      case "MISCONF" -> refused("refuses writes since it cannot save: " + message, cause);
      case "NOREPLICAS" -> refused("has fewer replicas than it wants: " + message, cause);
      case "UNBLOCKED" -> unavailable(NO_PRIMARY_NOW, cause);
      case "NOPERM" -> lacksRight(message, cause);
      case "NOAUTH", "WRONGPASS" -> denied(message, cause);
      case "WRONGTYPE" ->
          new StoreConfigurationException(
              say(
                  "has other data in a key pawl:lock:* or pawl:counter:*; delete it or use another"
                      + " database"),
              cause);
      case "CROSSSLOT" ->
          new StoreConfigurationException(say("is a Cluster; write redis-cluster://"), cause);
      default ->
          saysThatAScriptLacksARight(message) ? lacksRight(message, cause) : other(message, cause);
    };
  }

  /** As Redis 7.0 words it, and as Valkey does. */
  private static boolean saysThatAScriptLacksARight(String message) {
    return message.contains("executing the script can't")
        || message.contains("ACL failure in script");
  }

  /** The server says so itself, so it has done nothing. */
  private StoreUnavailableException refused(String what, @Nullable Throwable cause) {
    return StoreUnavailableException.unsent(say(what), cause);
  }

  private StoreException other(String message, @Nullable Throwable cause) {
    if (message.contains("max number of clients")) {
      return refused("has as many clients as it takes; raise maxclients, or close some", cause);
    }
    if (message.contains("WAIT cannot be used with replica")) {
      return unavailable(NO_PRIMARY_NOW, cause);
    }
    return message.contains("invalid password") || message.contains("without any password")
        ? denied(message, cause)
        : new StoreException(say("answered: " + message), cause);
  }

  private StoreDeniedException lacksRight(String message, @Nullable Throwable cause) {
    return new StoreDeniedException(
        say("does not allow it: " + message + "; docs/REDIS.md lists the rights needed"), cause);
  }

  private StoreDeniedException denied(String message, @Nullable Throwable cause) {
    boolean without = message.startsWith("NOAUTH");
    if (isOfASentinel(cause)) {
      return new StoreDeniedException(
          say(
              without
                  ? "a Sentinel wants a password; write sentinelPassword="
                  : "a Sentinel refused user or password; correct sentinelUser= and"
                      + " sentinelPassword="),
          cause);
    }
    return new StoreDeniedException(
        say(
            without
                ? "wants a password; write :password@ or user:password@ before the host"
                : "refused user or password; correct what stands before the @ in the URL"),
        cause);
  }

  /** Lettuce says so in the text of an exception around what was answered. */
  private static boolean isOfASentinel(@Nullable Throwable error) {
    RedisConnectionException outer =
        error == null || error.getCause() == null
            ? null
            : find(error.getCause(), RedisConnectionException.class);
    return outer != null && String.valueOf(outer.getMessage()).contains("Redis Sentinel");
  }

  /**
   * A first connection failed.
   *
   * @param tls whether we spoke TLS
   */
  StoreException connecting(Throwable error, boolean tls) {
    Throwable cause = unwrapped(error);
    if (cause instanceof StoreException known) {
      return known;
    }
    RedisCommandExecutionException answer = find(cause, RedisCommandExecutionException.class);
    if (answer != null) {
      String message = String.valueOf(answer.getMessage());
      if (message.contains("cluster support disabled")) {
        return new StoreConfigurationException(
            say("is no Cluster; write redis:// or rediss:// for a single server"), cause);
      }
      if (message.contains("DB index is out of range")
          || message.contains("SELECT is not allowed")) {
        return new StoreConfigurationException(
            say("has no such database; correct the number after the port"), cause);
      }
      return answered(message, cause);
    }
    // Lettuce tells of the nodes of a Cluster in the text of one exception for all.
    String text = String.valueOf(cause.getMessage());
    if (text.contains("cluster support disabled")) {
      return new StoreConfigurationException(
          say("is no Cluster; write redis:// or rediss:// for a single server"), cause);
    }
    if (text.contains("WRONGPASS") || text.contains("NOAUTH")) {
      return denied(text.contains("NOAUTH") ? "NOAUTH" : "WRONGPASS", cause);
    }
    SSLException ssl = find(cause, SSLException.class);
    if (ssl != null) {
      return new StoreConfigurationException(
          say(
              "failed at TLS: "
                  + ssl.getMessage()
                  + "; if it serves plain text write redis://, if its certificate is your own"
                  + " name it with trustStore= or trustPem="),
          cause);
    }
    if (find(cause, UnknownHostException.class) != null
        || find(cause, UnresolvedAddressException.class) != null) {
      return unavailable("cannot be found: no such host; correct the name", cause);
    }
    if (find(cause, ConnectException.class) != null) {
      return unavailable("cannot be reached: connection refused; is it running there?", cause);
    }
    if (find(cause, RedisProtocolException.class) != null) {
      return new StoreConfigurationException(
          say("answers what is not the Redis protocol" + hint(tls)), cause);
    }
    if (find(cause, TimeoutException.class) != null
        || find(cause, RedisCommandTimeoutException.class) != null) {
      return unavailable(
          "gave no answer in time; check host, port and firewall" + hint(tls), cause);
    }
    return unavailable("cannot be reached: " + deepest(cause).getMessage() + hint(tls), cause);
  }

  /**
   * Whether the server may have said why it closed the connection, and nobody knows: Lettuce's
   * handler of what it says goes with the connection, and if that is before the thread that has
   * dialled looks for it, this is all that is told.
   */
  static boolean isReasonLost(StoreException failure) {
    IllegalStateException found = find(failure, IllegalStateException.class);
    return found != null
        && String.valueOf(found.getMessage()).contains("RedisHandshakeHandler not registered");
  }

  private static String hint(boolean tls) {
    return tls
        ? "; if it serves plain text, write redis://"
        : "; if it serves TLS, write rediss:// or tls=true";
  }

  private String say(String what) {
    return "store '" + where + "': " + what;
  }

  static Throwable unwrapped(Throwable error) {
    Throwable cause = error;
    while ((cause instanceof CompletionException || cause instanceof ExecutionException)
        && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  private static Throwable deepest(Throwable error) {
    Throwable cause = error;
    for (int depth = 0; depth < 20 && cause.getCause() != null; depth++) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** Of the nodes of a Cluster Lettuce suppresses what each has said. */
  private static <T extends Throwable> @Nullable T find(Throwable error, Class<T> kind) {
    T found = inCauses(error, kind);
    for (Throwable each : error.getSuppressed()) {
      found = found == null ? inCauses(each, kind) : found;
    }
    return found;
  }

  private static <T extends Throwable> @Nullable T inCauses(Throwable error, Class<T> kind) {
    Throwable cause = error;
    for (int depth = 0; depth < 20 && cause != null; depth++) {
      if (kind.isInstance(cause)) {
        return kind.cast(cause);
      }
      cause = cause.getCause();
    }
    return null;
  }
}
