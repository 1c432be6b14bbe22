package io.pawl.spi;

import java.util.List;

/** A store that can examine its server and say what to fix. Blocks while it asks. */
public interface Diagnosable {

  /** How bad a finding is. */
  enum Level {
    OK,
    WARNING,
    PROBLEM
  }

  /**
   * The result of one check.
   *
   * @param fix what to do, empty if there is nothing to do
   */
  record Finding(Level level, String what, String fix) {}

  List<Finding> diagnose();
}
