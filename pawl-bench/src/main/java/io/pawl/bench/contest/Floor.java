package io.pawl.bench.contest;

import io.pawl.bench.BenchException;
import io.pawl.bench.report.Numbers;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What the machine itself takes for the steps that a lock is made of: no cycle with such steps can
 * be faster. Medians, in one thread or two, with nothing else to do; measured in the same run as
 * the rivals, since machines change their speed.
 */
final class Floor {

  private static final int WARM_UP = 2_000;
  private static final int ROUNDS = 5_000;
  private static final int SYNCS = 200;

  private Floor() {}

  /** Something that is done again and again. */
  private interface Step {
    void run() throws IOException;
  }

  /** In words. */
  static List<String> measure(Path folder) {
    try {
      return List.of(
          "floor: a round trip of one byte over loopback "
              + micros(roundTrip())
              + ", an fsync of 4 kB "
              + micros(sync(folder))
              + ", unparking a thread that unparks this one "
              + micros(unpark())
              + ", reading the clock "
              + micros(median(ROUNDS, () -> {})));
    } catch (IOException e) {
      throw new BenchException("the machine's own speed could not be measured", e);
    }
  }

  private static String micros(double nanos) {
    return Numbers.show(nanos / 1e3) + " µs";
  }

  private static double median(int rounds, Step step) throws IOException {
    for (int i = 0; i < Math.min(WARM_UP, rounds); i++) {
      step.run();
    }
    long[] nanos = new long[rounds];
    for (int i = 0; i < rounds; i++) {
      long from = System.nanoTime();
      step.run();
      nanos[i] = System.nanoTime() - from;
    }
    Arrays.sort(nanos);
    return nanos[rounds / 2];
  }

  private static double roundTrip() throws IOException {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket here = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket there = server.accept()) {
      here.setTcpNoDelay(true);
      there.setTcpNoDelay(true);
      Thread echo = daemon(() -> echo(there));
      double median =
          median(
              ROUNDS,
              () -> {
                here.getOutputStream().write(1);
                if (here.getInputStream().read() != 1) {
                  throw new IOException("the echo has ended");
                }
              });
      here.shutdownOutput();
      join(echo);
      return median;
    }
  }

  private static void echo(Socket socket) {
    try {
      for (int read = socket.getInputStream().read();
          read >= 0;
          read = socket.getInputStream().read()) {
        socket.getOutputStream().write(read);
      }
    } catch (IOException e) {
      throw new BenchException("the echo failed", e);
    }
  }

  private static double sync(Path folder) throws IOException {
    Path file = Files.createTempFile(folder, "floor", ".sync");
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      ByteBuffer page = ByteBuffer.allocateDirect(4_096);
      return median(
          SYNCS,
          () -> {
            page.rewind();
            channel.write(page, channel.size());
            channel.force(false);
          });
    } finally {
      Files.delete(file);
    }
  }

  /** Two threads that wake each other: two wake-ups a round. */
  private static final class PingPong {

    private final Thread first = Thread.currentThread();
    private volatile int turn;
    private volatile boolean over;
    private @Nullable Thread second;

    double median() throws IOException {
      Thread other = daemon(this::answer);
      second = other;
      double median = Floor.median(ROUNDS, this::round);
      over = true;
      LockSupport.unpark(other);
      join(other);
      return median;
    }

    private void round() {
      turn = 1;
      LockSupport.unpark(second);
      while (turn == 1) {
        LockSupport.park(this);
      }
    }

    private void answer() {
      while (!over) {
        if (turn == 1) {
          turn = 0;
          LockSupport.unpark(first);
        } else {
          LockSupport.park(this);
        }
      }
    }
  }

  private static double unpark() throws IOException {
    return new PingPong().median();
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "bench-floor");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }
}
