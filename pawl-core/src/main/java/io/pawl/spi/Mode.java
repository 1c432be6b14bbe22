package io.pawl.spi;

/** How a claim excludes others. */
public sealed interface Mode {

  /** Returns the capacity of the semaphore that the claim is for; 0 if it is for a lock. */
  default int capacity() {
    return 0;
  }

  /** Held alone. */
  record Exclusive() implements Mode {
    @Override
    public String toString() {
      return "exclusive";
    }
  }

  /** Held together with other shared claims, never beside an exclusive one. */
  record Shared() implements Mode {
    @Override
    public String toString() {
      return "shared";
    }
  }

  /**
   * Some of the permits of a semaphore.
   *
   * @param wanted 1 to {@code capacity}
   * @param capacity how many permits the semaphore has in all, as far as the claim knows
   */
  record Permits(int wanted, int capacity) implements Mode {
    public Permits {
      if (capacity < 1 || wanted < 1 || wanted > capacity) {
        throw new IllegalArgumentException(
            "permits: " + wanted + " of " + capacity + " is not between 1 and the capacity");
      }
    }

    @Override
    public String toString() {
      return wanted + "/" + capacity;
    }
  }

  Mode EXCLUSIVE = new Exclusive();
  Mode SHARED = new Shared();

  /** Parses what {@code toString} returns: {@code exclusive}, {@code shared} or {@code 2/5}. */
  static Mode parse(String text) {
    if (text.equals("exclusive")) {
      return EXCLUSIVE;
    }
    if (text.equals("shared")) {
      return SHARED;
    }
    int slash = text.indexOf('/');
    if (slash < 1) {
      throw new IllegalArgumentException(
          "mode: '" + text + "' is none of exclusive, shared, <wanted>/<capacity>");
    }
    return new Permits(
        Integer.parseInt(text.substring(0, slash)), Integer.parseInt(text.substring(slash + 1)));
  }
}
