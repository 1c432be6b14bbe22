package io.pawl.bench.rival;

/** What rivals take of a URL of Pawl's: {@code scheme://host:port,host:port/path}. */
final class Hosts {

  private Hosts() {}

  /** {@code host:port,host:port}. */
  static String of(String address) {
    String rest = rest(address);
    return rest.substring(0, rest.indexOf('/'));
  }

  /** Without a slash before or after it. */
  static String path(String address) {
    String rest = rest(address);
    return rest.substring(rest.indexOf('/') + 1);
  }

  private static String rest(String address) {
    return address.substring(address.indexOf("://") + "://".length());
  }
}
