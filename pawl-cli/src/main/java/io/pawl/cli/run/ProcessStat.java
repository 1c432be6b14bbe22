package io.pawl.cli.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What Linux says of a process in {@code /proc/PID/stat}.
 *
 * @param state {@code Z} for a zombie
 * @param group its process group
 * @param foregroundGroup the foreground process group of its terminal, -1 without one
 */
record ProcessStat(String state, long group, long foregroundGroup) {

  /** Null where there is no such process, or no such file system. */
  static @Nullable ProcessStat of(String pid) {
    try {
      String line = Files.readString(Path.of("/proc", pid, "stat"), StandardCharsets.ISO_8859_1);
      String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
      return new ProcessStat(fields[0], Long.parseLong(fields[2]), Long.parseLong(fields[5]));
    } catch (IOException e) {
      return null;
    }
  }

  boolean isZombie() {
    return state.equals("Z");
  }

  boolean isInForeground() {
    return group == foregroundGroup;
  }
}
