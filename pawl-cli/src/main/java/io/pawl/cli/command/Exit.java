package io.pawl.cli.command;

/** Exit codes, after {@code sysexits.h}. A command that ran gives its own. */
public final class Exit {

  public static final int OK = 0;
  public static final int USAGE = 64;
  public static final int DATA = 65;
  public static final int UNAVAILABLE = 69;
  public static final int INTERNAL = 70;
  public static final int UNKNOWN = 74;
  public static final int BUSY = 75;
  public static final int LOST = 76;
  public static final int DENIED = 77;
  public static final int CONFIGURATION = 78;
  public static final int NOT_EXECUTABLE = 126;
  public static final int NOT_FOUND = 127;
  public static final int SIGNAL = 128;

  private Exit() {}
}
