package io.pawl.etcd;

import io.pawl.error.StoreException;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Where things are stored; the package's Javadoc has the layout. Thread-safe. */
final class Keys {

  /** The words that follow a namespace, of which it may have none. */
  static final Set<String> PARTS = Set.of("claim", "kind", "pass", "withdrawn", "fence");

  private final String namespace;

  Keys(String namespace) {
    this.namespace = namespace;
  }

  /** Of a name, with {@code %} and {@code /} encoded. */
  String kind(String lock) {
    return kinds() + escaped(lock);
  }

  String kinds() {
    return namespace + "/kind/";
  }

  /** The prefix of the claims of a lock. */
  String claims(String lock) {
    return claims() + escaped(lock) + "/";
  }

  String claims() {
    return namespace + "/claim/";
  }

  /** The prefix of the claims of a lock that were made as writers. */
  String writers(String lock) {
    return claims(lock) + "x/";
  }

  String claim(String lock, Mode mode, ClaimId id) {
    String letter =
        mode instanceof Mode.Exclusive ? "x/" : mode instanceof Mode.Shared ? "s/" : "p/";
    return claims(lock) + letter + id;
  }

  /** What is left of a claim whose attempts may still be on their way. */
  String withdrawn(String lock, ClaimId id) {
    return namespace + "/withdrawn/" + escaped(lock) + "/" + id;
  }

  /** What attempts of a client rely on, see {@link SharedLease}. */
  String pass(String name) {
    return namespace + "/pass/" + name;
  }

  /** The lock of a key that begins with {@link #claims()}; null if Pawl did not make the key. */
  @Nullable String lockOf(String claimKey) {
    int start = claims().length();
    int end = claimKey.indexOf('/', start);
    return end < 0 ? null : unescaped(claimKey.substring(start, end));
  }

  /** The lock of a key that begins with {@link #kinds()}. */
  String lockOfKind(String kindKey) {
    return unescaped(kindKey.substring(kinds().length()));
  }

  static ClaimId idOf(String claimKey) {
    try {
      return ClaimId.parse(claimKey.substring(claimKey.lastIndexOf('/') + 1));
    } catch (IllegalArgumentException e) {
      throw new StoreException("Pawl did not make the key '" + claimKey + "'; delete it", e);
    }
  }

  static String escaped(String name) {
    return name.replace("%", "%25").replace("/", "%2F");
  }

  private static String unescaped(String text) {
    return text.replace("%2F", "/").replace("%25", "%");
  }
}
