package io.pawl.checker;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What is to be said of one promise.
 *
 * @param promise in words
 * @param ruling whether it was kept
 * @param violations what broke it, the first of them in words; or why it is not known
 */
public record Verdict(String promise, Ruling ruling, List<String> violations) {

  /** Whether a promise was kept. */
  public enum Ruling {
    KEPT,
    BROKEN,
    /** Looking was given up before the end. It is no {@link #KEPT}. */
    UNKNOWN
  }

  public Verdict {
    violations = List.copyOf(violations);
  }

  public boolean isKept() {
    return ruling == Ruling.KEPT;
  }

  static Verdict unknown(String promise, List<String> reasons) {
    return new Verdict(promise, Ruling.UNKNOWN, reasons);
  }

  /** Gathers what breaks a promise; so many in words, the rest as a number. */
  static final class Findings {
    private static final int MOST_TOLD = 20;

    private final String promise;
    private final List<String> told = new ArrayList<>();
    private long more;

    Findings(String promise) {
      this.promise = promise;
    }

    void add(String format, Object... facts) {
      if (told.size() < MOST_TOLD) {
        told.add(String.format(Locale.ROOT, format, facts));
      } else {
        more++;
      }
    }

    Verdict verdict() {
      if (more > 0) {
        told.add("and " + more + " more");
      }
      return new Verdict(promise, told.isEmpty() ? Ruling.KEPT : Ruling.BROKEN, told);
    }
  }
}
