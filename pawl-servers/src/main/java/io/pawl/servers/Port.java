package io.pawl.servers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A free loopback port that stays ours until closed, also while its server is down.
 *
 * <p>It lies below the range from which the system takes the ports of outgoing connections: a
 * client that keeps reconnecting to a dead server in that range ends up connected to itself, and
 * the server cannot come back. A locked file keeps other JVMs of this module off it.
 */
final class Port implements AutoCloseable {
  static final String HOST = "127.0.0.1";
  private static final int LOWEST = 15_000;
  private static final int TRIES = 1_000;
  private static final Set<Integer> ours = ConcurrentHashMap.newKeySet();

  private final int number;
  private final FileChannel claim;

  private Port(int number, FileChannel claim) {
    this.number = number;
    this.claim = claim;
  }

  static Port reserve() {
    try {
      int end = firstEphemeral();
      for (int i = 0; i < TRIES; i++) {
        int number = ThreadLocalRandom.current().nextInt(LOWEST, end);
        if (ours.add(number)) {
          FileChannel claim = claim(number);
          if (claim != null) {
            return new Port(number, claim);
          }
          ours.remove(number);
        }
      }
      throw new ServerException("no free port from " + LOWEST + " to " + end);
    } catch (IOException e) {
      throw new ServerException("cannot reserve a port", e);
    }
  }

  int number() {
    return number;
  }

  @Override
  public void close() {
    if (!claim.isOpen()) {
      return;
    }
    try {
      claim.close();
    } catch (IOException e) {
      throw new ServerException("cannot release port " + number, e);
    } finally {
      ours.remove(number);
    }
  }

  private static @Nullable FileChannel claim(int number) throws IOException {
    Path folder =
        Path.of(
            System.getProperty("java.io.tmpdir"), "pawl-ports-" + System.getProperty("user.name"));
    Files.createDirectories(folder);
    FileChannel file =
        FileChannel.open(
            folder.resolve(Integer.toString(number)),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE);
    FileLock lock = file.tryLock();
    if (lock != null && isFree(number)) {
      return file;
    }
    file.close();
    return null;
  }

  private static boolean isFree(int number) {
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(InetAddress.getByName(HOST), number));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private static int firstEphemeral() throws IOException {
    Path range = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
    int first = Files.exists(range) ? Integer.parseInt(Files.readString(range).split("\\s")[0]) : 0;
    return first > LOWEST + TRIES ? first : 32_768;
  }
}
