package io.pawl.cli;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Notices SIGQUIT. The JVM keeps that signal for its thread dump; the launcher sends what the JVM
 * prints into a pipe that this process reads itself, and a dump in it means that the signal came.
 * Linux only.
 */
final class QuitSignal {

  /** Set by the launcher to the file that the JVM prints to. */
  static final String LOG_PROPERTY = "pawl.vm.log";

  private static final String DUMP = "\nFull thread dump ";

  private QuitSignal() {}

  static void watch(Runnable quit) {
    String log = System.getProperty(LOG_PROPERTY);
    if (log == null) {
      return;
    }
    Thread reader = new Thread(() -> read(log, quit), "quit");
    reader.setDaemon(true);
    reader.start();
  }

  private static void read(String log, Runnable quit) {
    byte[] buffer = new byte[8192];
    String tail = "";
    try (InputStream output = new FileInputStream(log)) {
      for (int n = output.read(buffer); n >= 0; n = output.read(buffer)) {
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
}
