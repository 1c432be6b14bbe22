package io.pawl.etcd.gateway;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.gateway.RefusedException.Reason;
import java.io.EOFException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** What an error of etcd's means, and what to change. Messages never have a password. */
public final class Failures {

  private static final List<String> OUTCOME_UNKNOWN =
      List.of(
          "timed out",
          "leader changed",
          "no leader",
          "not leader",
          "server stopped",
          "unavailable",
          "context canceled",
          "deadline exceeded");

  /** By which the gateway says that etcd examined a request and refused it. */
  private static final Set<Integer> REFUSALS = Set.of(400, 401, 403, 404, 409, 412, 429);

  /** A request that is not well-formed, or not for the state of etcd. */
  private static final int BAD_REQUEST = 400;

  /** How all other certain refusals begin, but for what is too large. */
  private static final String ETCDS_WORD = "etcdserver: ";

  private static final String TOO_LARGE = "message larger than max";

  /** Of gRPC. */
  private static final int LARGEST_CODE = 16;

  private static final List<String> DENIED = List.of("permission denied", "authentication failed");

  /** The last is said of a request that came with a token, but before there was authentication. */
  private static final List<String> NO_TOKEN =
      List.of("invalid auth token", "revision of auth store", "user name is empty");

  private final String store;

  Failures(String store) {
    this.store = store;
  }

  /** Returns the failure itself, of a stage that depends on the one that failed. */
  public static Throwable cause(Throwable error) {
    return error instanceof CompletionException && error.getCause() != null
        ? error.getCause()
        : error;
  }

  /**
   * An answer with another status than 200. A status that is no certain refusal leaves the outcome
   * unknown: a member that is being stopped answers 408 or 499 to what it has passed on. So does an
   * error without a code of gRPC's, or a refusal in other words than etcd's, which is of something
   * else at the member's address: other services have such a gateway too.
   */
  StoreException refused(int status, byte[] body, String path) {
    try {
      Map<String, Object> fields = Json.object(body);
      Map<String, Object> ofStream = Json.object(fields, "error");
      fields = ofStream.isEmpty() ? fields : ofStream;
      String message =
          Json.text(fields, Json.text(fields, "message").isEmpty() ? "error" : "message");
      boolean hasCode = hasCode(fields, "code") || hasCode(fields, "grpc_code");
      if (hasCode && mayBeEtcds(status, message)) {
        return of(message, status);
      }
    } catch (IllegalArgumentException e) {
      return strange(status, path);
    }
    return strange(status, path);
  }

  private static boolean mayBeEtcds(int status, String message) {
    return status == BAD_REQUEST
        || !REFUSALS.contains(status)
        || message.startsWith(ETCDS_WORD)
        || message.contains(TOO_LARGE);
  }

  private static boolean hasCode(Map<String, Object> error, String name) {
    long code = Json.number(error, name);
    return code > 0 && code <= LARGEST_CODE;
  }

  private StoreException strange(int status, String path) {
    return status == 404
        ? new StoreConfigurationException(
            what()
                + "has no JSON gateway at "
                + path
                + "; use etcd 3.4 or newer, started without"
                + " --enable-grpc-gateway=false")
        : new StoreUnavailableException(what() + "answered with HTTP " + status);
  }

  /** An error in etcd's words. */
  StoreException of(String message, int status) {
    if (NO_TOKEN.stream().anyMatch(message::contains)) {
      return new RefusedException(Reason.TOKEN_INVALID, what() + "said '" + message + "'");
    }
    if (message.contains("authentication is not enabled")) {
      return new RefusedException(Reason.AUTHENTICATION_OFF, what() + "said '" + message + "'");
    }
    if (message.contains("requested lease not found")) {
      return new RefusedException(Reason.LEASE_GONE, what() + "said '" + message + "'");
    }
    if (message.contains("lease already exists")) {
      return new RefusedException(Reason.LEASE_EXISTS, what() + "said '" + message + "'");
    }
    if (message.contains("has been compacted")) {
      return new RefusedException(Reason.COMPACTED, what() + "said '" + message + "'");
    }
    if (message.contains("database space exceeded")) {
      return new RefusedException(
          Reason.NO_SPACE,
          what()
              + "has used up its space quota and takes no more writes; compact and defragment it,"
              + " then disarm the alarm (etcdctl compact, defrag, alarm disarm)");
    }
    if (DENIED.stream().anyMatch(message::contains)) {
      return new StoreDeniedException(
          what()
              + "said '"
              + message
              + "'; give user and password in the URL, and the user a role with readwrite on the"
              + " namespace's prefix");
    }
    if (message.contains("too many requests") || message.contains("learner")) {
      return StoreUnavailableException.unsent(what() + "said '" + message + "'", null);
    }
    if (!REFUSALS.contains(status) || OUTCOME_UNKNOWN.stream().anyMatch(message::contains)) {
      return new StoreUnavailableException(what() + "said '" + message + "'");
    }
    return new RefusedException(Reason.OTHER, what() + "said '" + message + "'");
  }

  /** No answer came: the request may have been applied. */
  StoreException silent(Endpoint endpoint, Exception cause) {
    return new StoreUnavailableException(
        what() + "did not answer at " + endpoint + ": " + cause.getMessage(), cause);
  }

  /**
   * Nothing was sent. A connection that ended before both sides had agreed on TLS says nothing of
   * TLS: so does a balancer whose member is down.
   */
  StoreException unreachable(@Nullable Endpoint endpoint, @Nullable Exception cause) {
    if (cause instanceof SSLException && !(cause.getCause() instanceof EOFException)) {
      return new StoreConfigurationException(
          what()
              + "and this client do not agree on TLS at "
              + endpoint
              + ": "
              + cause.getMessage()
              + "; use etcds:// for a server with TLS, and trustPem for its authority",
          cause);
    }
    String why = cause == null ? "a request waited too long to be sent" : cause.getMessage();
    String where = endpoint == null ? "" : " at " + endpoint;
    return StoreUnavailableException.unsent(
        what() + "cannot be reached" + where + ": " + why, cause);
  }

  StoreException closed() {
    return StoreUnavailableException.unsent(what() + "was closed by this client", null);
  }

  StoreException threadless(Error cause) {
    return StoreUnavailableException.unsent(
        what() + "was not asked: no thread can be started: " + cause.getMessage(), cause);
  }

  /** A member's answer says that it is of another cluster: nothing of it is believed. */
  StoreException stranger(Endpoint endpoint, long cluster, long known) {
    return new StoreUnavailableException(
        what()
            + "was answered at "
            + endpoint
            + " by a member of the cluster "
            + Long.toHexString(cluster)
            + ", others by one of "
            + Long.toHexString(known)
            + "; name members of one cluster in the URL");
  }

  /** The user's token was refused, however new: nothing was changed. */
  StoreException unauthenticated(StoreException refusal) {
    return StoreUnavailableException.unsent(
        what() + "refused one new token after another: " + refusal.getMessage(), refusal);
  }

  StoreException unreadable(Exception cause) {
    return new StoreUnavailableException(
        what() + "sent what is no answer of etcd's: " + cause.getMessage(), cause);
  }

  private String what() {
    return "store '" + store + "' ";
  }
}
