package io.pawl.servers;

/** A server could not be found, started or controlled; the message says why and what to do. */
public final class ServerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ServerException(String message) {
    super(message);
  }

  public ServerException(String message, Throwable cause) {
    super(message, cause);
  }
}
