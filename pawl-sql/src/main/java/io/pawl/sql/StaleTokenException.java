package io.pawl.sql;

import java.sql.SQLException;

/**
 * A write was refused because its fencing token is smaller than one already seen. It is a {@link
 * SQLException}, so that whatever rolls transactions back does so.
 */
public final class StaleTokenException extends SQLException {

  private static final long serialVersionUID = 1;

  private final long token;

  StaleTokenException(String message, long token) {
    super(message);
    this.token = token;
  }

  /** The token that was refused. */
  public long token() {
    return token;
  }
}
