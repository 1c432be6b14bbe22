package io.pawl.etcd;

import io.pawl.error.StoreException;
import io.pawl.etcd.gateway.KeyValue;
import io.pawl.spi.Kind;

/**
 * What the key of a lock's kind says: {@code lock}, {@code semaphore of 8}, and behind {@code ;}
 * the base of its tokens if that is not 0. A base is what a claim's token floor demanded that
 * etcd's revisions do not reach. It only grows, and the key then has no lease.
 */
record StoredKind(Kind kind, long base) {

  private static final String BASE = "; tokens after ";

  static StoredKind of(Kind kind) {
    return new StoredKind(kind, 0);
  }

  static StoredKind parse(KeyValue stored) {
    return parse(stored.key(), stored.value());
  }

  static StoredKind parse(String key, String text) {
    try {
      int at = text.indexOf(BASE);
      return at < 0
          ? of(Kind.parse(text))
          : new StoredKind(
              Kind.parse(text.substring(0, at)),
              Long.parseLong(text.substring(at + BASE.length())));
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          "key '" + key + "' has a value that Pawl did not write; delete the key", e);
    }
  }

  @Override
  public String toString() {
    return base == 0 ? kind.toString() : kind + BASE + base;
  }
}
