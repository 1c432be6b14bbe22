package io.pawl.cli;

import io.pawl.concurrent.DaemonThreads;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Notices SIGQUIT. The JVM keeps that signal for its thread dump; the launcher sends what the JVM
 * prints into a pipe that this process reads itself, and a dump in it means that the signal came.
 * Linux only.
 */
final class QuitSignal implements AutoCloseable {

  /** Set by the launcher to the file that the JVM prints to. */
  static final String LOG_PROPERTY = "pawl.vm.log";

  /** Set by the launcher where QUIT was ignored when it was started. */
  private static final String IGNORED_PROPERTY = "pawl.quit.ignored";

  private static final String DUMP = "\nFull thread dump ";

  private final @Nullable String log = System.getProperty(LOG_PROPERTY);
  private final Runnable quit;
  private volatile boolean closed;

  QuitSignal(Runnable quit) {
    this.quit = quit;
    if (log != null) {
      DaemonThreads.named("quit", () -> read(log)).start();
    }
  }

  /** Whether QUIT was ignored at the start, so that it stays ignored, for the command too. */
  static boolean isIgnored() {
    return Boolean.getBoolean(IGNORED_PROPERTY);
  }

  private void read(String file) {
    byte[] buffer = new byte[8192];
    String tail = "";
    try (InputStream output = new FileInputStream(file)) {
      for (int n = output.read(buffer); n >= 0 && !closed; n = output.read(buffer)) {
        String text = tail + new String(buffer, 0, n, StandardCharsets.ISO_8859_1);
        if (text.contains(DUMP)) {
          quit.run();
          tail = "";
        } else {
          tail = text.substring(Math.max(0, text.length() - DUMP.length() + 1));
        }
      }
    } catch (IOException e) {
      // without the pipe QUIT is not forwarded
    }
  }

  /** Ends the reader: a JVM that exits waits 300 ms for a thread that is in a system call. */
  @Override
  public void close() {
    closed = true;
    if (log != null) {
      try (OutputStream pipe = new FileOutputStream(log)) {
        pipe.write('\n');
      } catch (IOException e) {
        // there is no reader either
      }
    }
  }
}
