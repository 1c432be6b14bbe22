package io.pawl.cli.counter;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Failure;
import java.util.Locale;

/** What {@code pawl counter} can do with a counter. */
enum CounterVerb {
  GET("", 0, 0),
  SET("VALUE", 1, 1),
  ADD("AMOUNT", 1, 1),
  TAKE("[AMOUNT]", 0, 1),
  GIVE("[AMOUNT]", 0, 1),
  RESERVE("[AMOUNT] --id=ID --ttl=DURATION", 0, 1),
  CONFIRM("ID [--within=DURATION]", 1, 1),
  CANCEL("ID [--within=DURATION]", 1, 1),
  BOUNDS("[FLOOR CEILING]", 0, 2),
  OUTCOME("ID [--within=DURATION]", 1, 1),
  HISTORY("[--limit=N]", 0, 0),
  PRUNE("--older=DURATION", 0, 0);

  /** What is about all counters, and so takes no name. */
  static final String LIST = "list";

  private final String synopsis;
  private final int least;
  private final int most;

  CounterVerb(String synopsis, int least, int most) {
    this.synopsis = synopsis;
    this.least = least;
    this.most = most;
  }

  static CounterVerb of(String word) {
    for (CounterVerb verb : values()) {
      if (verb.toString().equals(word)) {
        return verb;
      }
    }
    throw Failure.usage(
        "counter "
            + Arguments.shown(word)
            + " is unknown; known are "
            + known()
            + "; see pawl counter --help");
  }

  private static String known() {
    StringBuilder all = new StringBuilder();
    for (CounterVerb verb : values()) {
      all.append(verb == GET ? "" : ", ").append(verb);
    }
    return all.append(", ").append(LIST).toString();
  }

  /** Whether an id of one's own can be given to it. */
  boolean takesId() {
    return switch (this) {
      case SET, ADD, TAKE, GIVE, RESERVE, BOUNDS -> true;
      default -> false;
    };
  }

  /** Whether it is about an operation of before. */
  boolean asksById() {
    return this == CONFIRM || this == CANCEL || this == OUTCOME;
  }

  String usage() {
    return ("pawl counter " + this + " NAME " + synopsis).strip();
  }

  /** Refuses a number of operands that it does not have. */
  void checkOperands(int count) {
    if (count < least || count > most || (this == BOUNDS && count == 1)) {
      throw Failure.usage("write: " + usage());
    }
  }

  /** As it is written on the command line. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
