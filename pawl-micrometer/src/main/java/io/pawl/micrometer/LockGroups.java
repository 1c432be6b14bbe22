package io.pawl.micrometer;

/**
 * Says to which group a lock belongs. The group becomes a tag, and a name never does: locks are
 * often named after orders or users, and there are as many.
 */
@FunctionalInterface
public interface LockGroups {

  /**
   * Returns the group of the lock with this name, always the same; blank means {@link
   * LockMeters#OTHER}. Called on the thread that causes an event: it should neither block nor
   * throw.
   */
  String groupOf(String lock);

  /**
   * Returns groups by the beginning of the name: what stands before its first colon or digit,
   * without hyphens, underscores, dots, slashes and spaces at the end. {@code orders:42} and {@code
   * orders-42} are of the group {@code orders}, {@code nightly} of the group {@code nightly}.
   */
  static LockGroups byBeginning() {
    return LockGroups::beginning;
  }

  private static String beginning(String lock) {
    int end = 0;
    while (end < lock.length() && lock.charAt(end) != ':' && !Character.isDigit(lock.charAt(end))) {
      end++;
    }
    while (end > 0 && "-_./ ".indexOf(lock.charAt(end - 1)) >= 0) {
      end--;
    }
    return lock.substring(0, end);
  }
}
