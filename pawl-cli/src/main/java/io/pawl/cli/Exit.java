package io.pawl.cli;

/** Exit codes, after {@code sysexits.h}. A command that ran gives its own. */
final class Exit {

  static final int OK = 0;
  static final int USAGE = 64;
  static final int DATA = 65;
  static final int UNAVAILABLE = 69;
  static final int INTERNAL = 70;
  static final int UNKNOWN = 74;
  static final int BUSY = 75;
  static final int LOST = 76;
  static final int DENIED = 77;
  static final int CONFIGURATION = 78;
  static final int NOT_EXECUTABLE = 126;
  static final int NOT_FOUND = 127;
  static final int SIGNAL = 128;

  private Exit() {}
}
