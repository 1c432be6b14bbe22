package io.pawl.spi;

import java.util.List;

/** A store that can examine its server and say what to mend. Blocks while it asks. */
public interface Diagnosable {

  /** How bad a finding is. */
  enum Level {
    OK,
    WARNING,
    PROBLEM
  }

  /**
   * One thing looked at.
   *
   * @param fix what to do, empty where nothing needs doing
   */
  record Finding(Level level, String what, String fix) {}

  List<Finding> diagnose();
}
