package io.pawl.engine;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Who we are, for people; looked up once. */
final class ThisProcess {

  static final long PID = ProcessHandle.current().pid();
  static final String HOST = host();

  private ThisProcess() {}

  private static String host() {
    Path linux = Path.of("/proc/sys/kernel/hostname");
    try {
      if (Files.isReadable(linux)) {
        return Files.readString(linux).strip();
      }
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    } catch (IOException e) {
      return "unknown-host";
    }
  }
}
