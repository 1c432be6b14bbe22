package io.pawl.spi;

/**
 * An operation on a counter. An {@link Entering} operation is entered into the counter's ledger
 * under an id, once. A {@link Resolving} operation refers to the entry that has the id, needs no id
 * of its own, and is harmless to repeat.
 */
public sealed interface Operation {

  /** Changes the counter, and is entered into its ledger under its id. */
  sealed interface Entering extends Operation {}

  /** Refers to an operation that was entered before, or never will be. */
  sealed interface Resolving extends Operation {}

  /**
   * Adds the amount, or takes it if negative.
   *
   * @param amount within ±{@link Amounts#MAX}, not 0
   */
  record Add(long amount) implements Entering {
    public Add {
      Amounts.value("amount", amount);
      if (amount == 0) {
        throw new IllegalArgumentException("amount: 0 changes nothing");
      }
    }

    @Override
    public String toString() {
      return "add " + amount;
    }
  }

  /**
   * Sets the value.
   *
   * @param value within ±{@link Amounts#MAX}
   */
  record SetTo(long value) implements Entering {
    public SetTo {
      Amounts.value("value", value);
    }

    @Override
    public String toString() {
      return "set " + value;
    }
  }

  /** Sets the value if it is as expected; both within ±{@link Amounts#MAX}. */
  record CompareAndSet(long expected, long value) implements Entering {
    public CompareAndSet {
      Amounts.value("expected value", expected);
      Amounts.value("value", value);
    }

    @Override
    public String toString() {
      return "compareAndSet " + expected + ' ' + value;
    }
  }

  /** Sets the bounds, if the value and the reserved amount lie between them. */
  record SetBounds(long floor, long ceiling) implements Entering {
    public SetBounds {
      Amounts.value("floor", floor);
      Amounts.value("ceiling", ceiling);
      if (floor > ceiling) {
        throw new IllegalArgumentException("floor: " + floor + " is above ceiling " + ceiling);
      }
    }

    @Override
    public String toString() {
      return "bounds " + floor + ' ' + ceiling;
    }
  }

  /**
   * Takes {@code amount} until it is confirmed, cancelled, or {@code ttlMillis} have passed.
   *
   * @param amount 1 to {@link Amounts#MAX}
   * @param ttlMillis 1 to {@link #MAX_TTL_MILLIS}
   */
  record Reserve(long amount, long ttlMillis) implements Entering {

    /** 100 years. */
    public static final long MAX_TTL_MILLIS = 36_525L * 86_400_000;

    public Reserve {
      Amounts.positive("amount", amount);
      if (ttlMillis < 1 || ttlMillis > MAX_TTL_MILLIS) {
        throw new IllegalArgumentException(
            "ttl: " + ttlMillis + " ms is not between 1 ms and 100 years");
      }
    }

    @Override
    public String toString() {
      return "reserve " + amount + ' ' + ttlMillis;
    }
  }

  /** Makes a reservation final. */
  record Confirm() implements Resolving {
    @Override
    public String toString() {
      return "confirm";
    }
  }

  /** Returns a reservation to stock; an unknown id is closed, as by {@link Close}. */
  record Cancel() implements Resolving {
    @Override
    public String toString() {
      return "cancel";
    }
  }

  /**
   * Asks what became of the id. An unknown id is <em>closed</em>: an operation that still arrives
   * under it is refused, so that the answer stays true.
   */
  record Close() implements Resolving {
    @Override
    public String toString() {
      return "close";
    }
  }

  Operation CONFIRM = new Confirm();
  Operation CANCEL = new Cancel();
  Operation CLOSE = new Close();

  /** Parses what {@code toString} returns. */
  static Operation parse(String text) {
    String[] words = text.split(" ", -1);
    try {
      return switch (words[0]) {
        case "add" -> new Add(number(words, 1));
        case "set" -> new SetTo(number(words, 1));
        case "compareAndSet" -> new CompareAndSet(number(words, 1), number(words, 2));
        case "bounds" -> new SetBounds(number(words, 1), number(words, 2));
        case "reserve" -> new Reserve(number(words, 1), number(words, 2));
        case "confirm" -> CONFIRM;
        case "cancel" -> CANCEL;
        case "close" -> CLOSE;
        default -> throw new IllegalArgumentException("no such operation");
      };
    } catch (ArrayIndexOutOfBoundsException | NumberFormatException e) {
      throw new IllegalArgumentException("operation: '" + text + "' is none", e);
    }
  }

  private static long number(String[] words, int index) {
    return Long.parseLong(words[index]);
  }
}
