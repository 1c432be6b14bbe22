package io.pawl.bench;

import java.util.List;

/** What JVMs that run for a second are started with. */
public final class ShortRuns {

  public static final List<String> JVM_ARGUMENTS =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  private ShortRuns() {}
}
