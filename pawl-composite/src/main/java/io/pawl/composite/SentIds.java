package io.pawl.composite;

import java.util.HashSet;
import java.util.Set;

/** The last ids that this client sent to the truth, at least {@link #GENERATION} of them. */
final class SentIds {

  static final int GENERATION = 100_000;

  private Set<String> young = new HashSet<>();
  private Set<String> old = new HashSet<>();

  synchronized void add(String counter, String id) {
    if (young.size() >= GENERATION) {
      old = young;
      young = new HashSet<>();
    }
    young.add(key(counter, id));
  }

  synchronized boolean has(String counter, String id) {
    String key = key(counter, id);
    return young.contains(key) || old.contains(key);
  }

  /** Neither part has control characters. */
  private static String key(String counter, String id) {
    return counter + '\0' + id;
  }
}
