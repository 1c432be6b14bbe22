package io.pawl.bench.rival;

import io.pawl.bench.BenchException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The least that threads pay who wait for a server over a connection that they share: a thread that
 * asks PING once for all who have come meanwhile, and wakes them with the answer; twice a cycle.
 * Nothing is locked: a limit for clients that block many threads, not a lock.
 */
public final class SharedTrips implements Rival {

  public static final String NAME = "bare trips, shared";

  private static final byte[] PING = "PING\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final int LENGTH_OF_PONG = "+PONG\r\n".length();

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Client connect(String address) {
    URI server = URI.create(address);
    try {
      Socket socket = new Socket(server.getHost(), server.getPort());
      socket.setTcpNoDelay(true);
      Trips trips = new Trips(socket);
      trips.start();
      return new Client() {
        @Override
        public Turn lock(String name) {
          return new TwoTrips(trips);
        }

        @Override
        public void close() {
          trips.end();
        }
      };
    } catch (IOException e) {
      throw new BenchException("no connection for bare trips", e);
    }
  }

  /** One thread that travels for all. */
  private static final class Trips extends Thread {

    private final Socket socket;
    private final Queue<TwoTrips> asking = new ConcurrentLinkedQueue<>();
    private volatile boolean asleep;
    private volatile boolean over;

    Trips(Socket socket) {
      super("bench-trips");
      this.socket = socket;
      setDaemon(true);
    }

    void ask(TwoTrips turn) {
      asking.add(turn);
      if (asleep) {
        LockSupport.unpark(this);
      }
    }

    @Override
    public void run() {
      List<TwoTrips> together = new ArrayList<>();
      try (socket) {
        OutputStream out = socket.getOutputStream();
        InputStream in = socket.getInputStream();
        while (!over) {
          for (TwoTrips turn = asking.poll(); turn != null; turn = asking.poll()) {
            together.add(turn);
          }
          if (together.isEmpty()) {
            sleepUntilAsked();
          } else {
            out.write(PING);
            if (in.readNBytes(LENGTH_OF_PONG).length < LENGTH_OF_PONG) {
              throw new BenchException("the server closed the connection of bare trips");
            }
            together.forEach(TwoTrips::arrive);
            together.clear();
          }
        }
      } catch (IOException e) {
        throw new BenchException("the connection of bare trips failed", e);
      }
    }

    private void sleepUntilAsked() {
      asleep = true;
      while (asking.isEmpty() && !over) {
        LockSupport.park(this);
      }
      asleep = false;
    }

    void end() {
      over = true;
      LockSupport.unpark(this);
    }
  }

  private static final class TwoTrips implements Turn {

    private final Trips trips;
    private final Thread thread = Thread.currentThread();
    private volatile boolean arrived;

    TwoTrips(Trips trips) {
      this.trips = trips;
    }

    @Override
    public long acquire() {
      travel();
      return 0;
    }

    @Override
    public void release() {
      travel();
    }

    private void travel() {
      arrived = false;
      trips.ask(this);
      while (!arrived) {
        LockSupport.park(this);
      }
    }

    void arrive() {
      arrived = true;
      LockSupport.unpark(thread);
    }
  }
}
