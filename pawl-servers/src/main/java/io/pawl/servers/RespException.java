package io.pawl.servers;

/** An error reply of a Redis server, such as {@code NOAUTH Authentication required.} */
public final class RespException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  RespException(String reply) {
    super(reply);
  }

  /** Returns the first word of the reply: {@code ERR}, {@code NOAUTH}, {@code MOVED} and so on. */
  public String code() {
    return String.valueOf(getMessage()).split(" ", 2)[0];
  }
}
