package io.pawl.cli.command;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** One word after {@code pawl}. */
public interface Command {

  /**
   * Its options and its help. Built by hand and only for the word that was given: reading
   * annotations would cost every start 30 ms.
   */
  CommandSpec spec();

  /**
   * Does it.
   *
   * @param arguments what stood before the first {@code --}; all, without {@link #takesRest}
   * @param rest what stood after it
   */
  int run(ParseResult arguments, List<String> rest);

  /** Whether it reads what stands after {@code --} itself; else those are names. */
  default boolean takesRest() {
    return false;
  }
}
