package io.pawl.bench;

import java.nio.file.Path;
import java.util.List;

/**
 * How to measure.
 *
 * @param forks runs of each side, each in fresh processes
 * @param seconds of each, 0 for the suite's own number
 * @param threads of contests with several threads, 0 for their own number
 * @param only a part of the titles of the contests to run, empty for all
 * @param sides a part of the names of those that take part in a contest, empty for all
 * @param jvmArguments for the forks
 * @param folder where stores with files put them
 * @param pawl the command that {@code startup} measures
 * @param takes of a soak
 * @param seed from which a soak's faults follow
 * @param virtualThreads whether those who contend are virtual threads
 */
public record Settings(
    int forks,
    double seconds,
    double warmUpSeconds,
    int threads,
    String only,
    String sides,
    List<String> jvmArguments,
    Path folder,
    String pawl,
    long takes,
    long seed,
    boolean virtualThreads) {

  /** All sides, on platform threads, without a soak. */
  public Settings(
      int forks,
      double seconds,
      double warmUpSeconds,
      int threads,
      String only,
      List<String> jvmArguments,
      Path folder,
      String pawl) {
    this(forks, seconds, warmUpSeconds, threads, only, "", jvmArguments, folder, pawl, 0, 0, false);
  }

  /** What contests and single operations take. */
  public static final double USUAL_SECONDS = 2;

  public double secondsOr(double own) {
    return seconds == 0 ? own : seconds;
  }

  public void pauseToWarmUp() {
    pause(Math.round(warmUpSeconds * 1e3));
  }

  public static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  public boolean includes(String title) {
    return title.contains(only);
  }

  public boolean includesSide(String name) {
    return name.contains(sides);
  }
}
