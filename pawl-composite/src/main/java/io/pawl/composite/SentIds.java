package io.pawl.composite;

import java.util.HashSet;
import java.util.Set;

/**
 * Ids that this client sent to the truth: those that were not answered, which the client repeats,
 * and the last answered ones of callers, who may; at least {@link #GENERATION} of either.
 */
final class SentIds {

  static final int GENERATION = 100_000;

  private final Recent unanswered = new Recent();
  private final Recent answered = new Recent();

  /** The latest; thinned out by the older half. */
  private static final class Recent {
    private Set<String> young = new HashSet<>();
    private Set<String> old = new HashSet<>();

    void add(String key) {
      if (young.size() >= GENERATION) {
        old = young;
        young = new HashSet<>();
      }
      young.add(key);
    }

    void remove(String key) {
      young.remove(key);
      old.remove(key);
    }

    boolean has(String key) {
      return young.contains(key) || old.contains(key);
    }
  }

  synchronized void send(String counter, String id) {
    unanswered.add(key(counter, id));
  }

  /**
   * The truth has answered.
   *
   * @param mayBeRepeated whether somebody may repeat it all the same
   */
  synchronized void answered(String counter, String id, boolean mayBeRepeated) {
    String key = key(counter, id);
    unanswered.remove(key);
    if (mayBeRepeated) {
      answered.add(key);
    }
  }

  synchronized boolean has(String counter, String id) {
    String key = key(counter, id);
    return unanswered.has(key) || answered.has(key);
  }

  /** Neither part has control characters. */
  private static String key(String counter, String id) {
    return counter + '\0' + id;
  }
}
