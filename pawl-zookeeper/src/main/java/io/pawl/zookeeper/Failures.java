package io.pawl.zookeeper;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import java.util.concurrent.CompletionException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** What ZooKeeper's errors mean, and what to change. */
record Failures(String address) {

  static @Nullable Throwable cause(@Nullable Throwable error) {
    Throwable cause = error;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  /** What a stage failed with, to be thrown by one that follows it. */
  static CompletionException unchecked(Throwable error) {
    return error instanceof CompletionException known ? known : new CompletionException(error);
  }

  /** The code of ZooKeeper's own errors, null for any other and for none. */
  static @Nullable Code code(@Nullable Throwable error) {
    return cause(error) instanceof KeeperException keeper ? keeper.code() : null;
  }

  /** Whether the request may have been carried out, or may still be. */
  static boolean isUnknown(@Nullable Throwable error) {
    Code code = code(error);
    return code == Code.CONNECTIONLOSS
        || code == Code.OPERATIONTIMEOUT
        || code == Code.REQUESTTIMEOUT;
  }

  /** What was not sent now may have been before. */
  StoreUnavailableException unknown(StoreException refusal) {
    return new StoreUnavailableException(String.valueOf(refusal.getMessage()), refusal);
  }

  StoreException usedUp(String lock, String path) {
    return new StoreException(
        "lock '"
            + lock
            + "': the numbers of its nodes are used up; leave it alone until nobody holds it"
            + " or waits, and delete node "
            + path);
  }

  StoreException of(@Nullable Throwable error) {
    Throwable cause = cause(error);
    if (cause instanceof StoreException known) {
      return known;
    }
    if (!(cause instanceof KeeperException keeper)) {
      return new StoreException(address + ": failed unexpectedly: " + cause, cause);
    }
    return switch (keeper.code()) {
      case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT ->
          new StoreUnavailableException(
              address + ": the connection was lost before the answer came", keeper);
      case SESSIONEXPIRED, SESSIONMOVED ->
          new StoreUnavailableException(address + ": the session has ended", keeper);
      case THROTTLEDOP ->
          new StoreUnavailableException(address + ": the server is overloaded", keeper);
      case NOAUTH ->
          new StoreDeniedException(
              address
                  + ": no right to "
                  + keeper.getPath()
                  + "; give user:password@ of whoever created it, or change its ACL",
              keeper);
      case AUTHFAILED, INVALIDACL ->
          new StoreDeniedException(address + ": the credentials were refused", keeper);
      case SESSIONCLOSEDREQUIRESASLAUTH ->
          new StoreDeniedException(
              address
                  + ": asks for SASL; give the process a JAAS configuration whose section Client"
                  + " can log in",
              keeper);
      case UNIMPLEMENTED ->
          new StoreConfigurationException(
              address + ": is older than ZooKeeper 3.6, which Pawl needs; upgrade it", keeper);
      case QUOTAEXCEEDED ->
          new StoreConfigurationException(
              address + ": the quota of " + keeper.getPath() + " is used up; raise it", keeper);
      default -> new StoreException(address + ": " + keeper.getMessage(), keeper);
    };
  }
}
