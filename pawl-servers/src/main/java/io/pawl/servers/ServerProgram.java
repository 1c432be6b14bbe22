package io.pawl.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a server's program is: on this machine, or fetched by {@code fetch.sh} beside this class.
 */
final class ServerProgram {
  private static final Logger log = LoggerFactory.getLogger(ServerProgram.class);
  private static final long FETCH_MINUTES = 30;
  private static final Map<String, Path> found = new ConcurrentHashMap<>();

  private ServerProgram() {}

  /** The program of the server that {@code fetch.sh} calls {@code name}. */
  static Path of(String name) {
    return found.computeIfAbsent(name, ServerProgram::locate);
  }

  private static Path locate(String name) {
    try {
      Path script = Files.createTempFile("pawl-fetch", ".sh");
      Path complaint = Files.createTempFile("pawl-fetch", ".err");
      try (InputStream source = ServerProgram.class.getResourceAsStream("fetch.sh")) {
        if (source == null) {
          throw new ServerException("fetch.sh is not beside " + ServerProgram.class);
        }
        Files.copy(source, script, StandardCopyOption.REPLACE_EXISTING);
        return run(script, name, complaint);
      } finally {
        Files.delete(script);
        Files.delete(complaint);
      }
    } catch (IOException e) {
      throw new ServerException("cannot run fetch.sh for " + name, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted while fetching " + name, e);
    }
  }

  private static Path run(Path script, String name, Path complaint)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    Path answer = Files.createTempFile("pawl-fetch", ".out");
    try {
      Process fetch =
          new ProcessBuilder("sh", script.toString(), name)
              .redirectOutput(answer.toFile())
              .redirectError(complaint.toFile())
              .start();
      if (!fetch.waitFor(FETCH_MINUTES, TimeUnit.MINUTES)) {
        fetch.destroy();
        throw new ServerException(name + " was not fetched in " + FETCH_MINUTES + " minutes");
      }
      if (fetch.exitValue() != 0) {
        throw new ServerException(Files.readString(complaint).strip());
      }
      Path program = Path.of(Files.readString(answer).strip());
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
      log.info("{} is {} (found in {} ms)", name, program, millis);
      return program;
    } finally {
      Files.delete(answer);
    }
  }
}
