package io.pawl.spi;

/**
 * The identity of one claim, never used again: the client that asked, and that client's running
 * number. A store notifies a client's waiters by the {@code client} part, and makes every retry
 * harmless by the whole id.
 *
 * @param client 1 to 64 letters, digits, {@code _} or {@code -}, random enough to be unique
 * @param number at least 0, counted up by the client
 */
public record ClaimId(String client, long number) implements Comparable<ClaimId> {

  private static final int MAX_CLIENT_LENGTH = 64;

  public ClaimId {
    if (!isClient(client)) {
      throw new IllegalArgumentException(
          "client of a claim id: '" + client + "' is not 1 to 64 letters, digits, '_' or '-'");
    }
    if (number < 0) {
      throw new IllegalArgumentException("number of a claim id: " + number + " is negative");
    }
  }

  private static boolean isClient(String text) {
    boolean ok = !text.isEmpty() && text.length() <= MAX_CLIENT_LENGTH;
    for (int i = 0; ok && i < text.length(); i++) {
      char c = text.charAt(i);
      ok = c == '_' || c == '-' || (c < 0x80 && Character.isLetterOrDigit(c));
    }
    return ok;
  }

  /** Parses what {@link #toString} returns. */
  public static ClaimId parse(String text) {
    int dot = text.lastIndexOf('.');
    if (dot < 1) {
      throw new IllegalArgumentException("claim id: '" + text + "' is not <client>.<number>");
    }
    return new ClaimId(text.substring(0, dot), Long.parseLong(text.substring(dot + 1)));
  }

  @Override
  public int compareTo(ClaimId other) {
    int byClient = client.compareTo(other.client);
    return byClient != 0 ? byClient : Long.compare(number, other.number);
  }

  @Override
  public String toString() {
    return client + '.' + number;
  }
}
