package io.pawl.spi;

import java.util.Locale;

/**
 * The rule for names of locks: 1 to 512 bytes in UTF-8, no control characters, no unpaired
 * surrogates. Names are compared byte for byte: case, accents, trailing spaces and normal forms all
 * count.
 */
public final class LockName {

  /** The longest name in bytes of UTF-8. */
  public static final int MAX_BYTES = 512;

  private LockName() {}

  /**
   * Returns {@code name}.
   *
   * @throws IllegalArgumentException that says what is wrong and where
   */
  public static String check(String name) {
    return check("lock name", name, MAX_BYTES);
  }

  /**
   * Returns {@code name}, which is not a lock's but obeys the same rule.
   *
   * @param what the kind of name, for the message: {@code counter name}, {@code operation id}
   * @param maxBytes the largest number of bytes in UTF-8
   * @throws IllegalArgumentException that says what is wrong and where
   */
  public static String check(String what, String name, int maxBytes) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException(what + ": is empty; give it at least one character");
    }
    int bytes = 0;
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (Character.isISOControl(c)) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "%s: character %d is the control character U+%04X; take it out",
                what,
                i + 1,
                (int) c));
      }
      if (Character.isHighSurrogate(c)
          && i + 1 < name.length()
          && Character.isLowSurrogate(name.charAt(i + 1))) {
        i++;
        bytes += 4;
      } else if (Character.isSurrogate(c)) {
        throw new IllegalArgumentException(
            what + ": character " + (i + 1) + " is half of a surrogate pair, not a character");
      } else {
        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      }
      if (bytes > maxBytes) {
        throw new IllegalArgumentException(
            what
                + " '"
                + name.substring(0, 16)
                + "…': is longer than "
                + maxBytes
                + " bytes in UTF-8; hash the long part");
      }
    }
    return name;
  }
}
