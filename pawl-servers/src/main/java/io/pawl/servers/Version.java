package io.pawl.servers;

/**
 * Which version of a server to start: the one that this module takes unless asked, or an older or
 * newer one that {@code fetch.sh} knows.
 */
public record Version(String number) {

  /** The one that this module takes unless asked. */
  public static final Version USUAL = new Version("");

  /**
   * @param number as in {@code 8.0} or {@code 13}
   */
  public static Version of(String number) {
    return new Version(number);
  }

  /** What {@code fetch.sh} calls this version of {@code server}. */
  String rowOf(String server) {
    return number.isEmpty() ? server : server + "-" + number;
  }
}
