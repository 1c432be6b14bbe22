package io.pawl.cli.run;

import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;

/** Finds a command the way a shell does, so that a typing error costs no lock. */
final class CommandPath {

  /** Where the JVM looks for a command without a {@code PATH}. */
  private static final String PATH_OF_LAST_RESORT = ":/bin:/usr/bin";

  private CommandPath() {}

  /**
   * Checks that {@code command} can be executed, as far as this JVM can name where it is looked
   * for.
   *
   * @throws Failure 127 when there is none, 126 when it may not be executed
   */
  static void check(String command, Map<String, String> environment) {
    if (command.isEmpty()) {
      throw new Failure(Exit.NOT_FOUND, "the command is empty; write pawl run NAME -- COMMAND");
    }
    String shown = command.contains("://") ? Arguments.HIDDEN : "'" + command + "'";
    boolean seen = false;
    boolean misread = false;
    String directories = command.contains("/") ? "" : path(environment);
    for (String directory : directories.split(":", -1)) {
      Path file;
      try {
        file = Path.of(directory).resolve(command);
      } catch (InvalidPathException e) {
        continue;
      }
      if (Files.isExecutable(file) && !Files.isDirectory(file)) {
        return;
      }
      misread |= Arguments.isMisread(file.toAbsolutePath().toString());
      seen |= Files.exists(file) && (command.contains("/") || !Files.isDirectory(file));
    }
    if (misread) {
      return; // whoever starts it knows the bytes of the working directory and of the PATH
    }
    if (seen) {
      throw new Failure(
          Exit.NOT_EXECUTABLE, "command " + shown + ": may not be executed; see chmod +x");
    }
    throw new Failure(
        Exit.NOT_FOUND,
        "command " + shown + ": not found" + (command.contains("/") ? "" : " on the PATH"));
  }

  private static String path(Map<String, String> environment) {
    return environment.getOrDefault("PATH", PATH_OF_LAST_RESORT);
  }
}
