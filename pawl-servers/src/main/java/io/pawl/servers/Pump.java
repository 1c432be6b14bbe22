package io.pawl.servers;

import io.pawl.servers.Conversation.Answer;
import io.pawl.servers.FaultProxy.AfterDrop;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a proxied connection: reads what comes, keeps it as long as it is delayed, and
 * delivers it as the faults in force allow.
 */
final class Pump {
  private static final int CHUNK = 16 * 1024;
  private static final int MOST_QUEUED = 1024 * 1024;
  private static final int SLICES_PER_SECOND = 50;

  private final Direction direction;
  private final Faults faults;
  private final Conversation conversation;
  private final Socket from;
  private final Socket to;
  private final Queue<Parcel> parcels = new ArrayDeque<>();
  private int queuedBytes;
  private boolean sourceEnded;
  private volatile boolean silent;

  /** Bytes with the time at which they are due. */
  private record Parcel(long dueNanos, byte[] bytes, @Nullable AfterDrop then) {}

  /** How a direction ended. */
  enum End {
    /** The source finished, and the sink has been told so. */
    FINISHED,
    /** The connection is to be reset. */
    RESET,
    /** Nothing more is delivered, and neither side knows. */
    SILENT
  }

  Pump(Direction direction, Faults faults, Conversation conversation, Socket from, Socket to) {
    this.direction = direction;
    this.faults = faults;
    this.conversation = conversation;
    this.from = from;
    this.to = to;
  }

  /** Whether bytes or the end have been withheld, so that nothing may follow them. */
  boolean isSilent() {
    return silent;
  }

  /** Runs until either side ends. */
  End run() throws InterruptedException {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      while (!sourceEnded || !parcels.isEmpty()) {
        Parcel next = parcels.peek();
        long waitNanos = next == null ? 0 : next.dueNanos - System.nanoTime();
        if (next != null && waitNanos <= 0) {
          parcels.remove();
          queuedBytes -= next.bytes.length;
          deliver(next, out);
          if (next.then == AfterDrop.RESET && !silent) {
            return faults.lastOfReply().isEmpty() ? End.RESET : finish();
          }
          silent |= next.then == AfterDrop.SILENCE;
        } else if (sourceEnded || queuedBytes >= MOST_QUEUED) {
          faults.pause(waitNanos);
        } else {
          receive(in, waitNanos);
        }
      }
      return finish();
    } catch (IOException e) {
      // One side is gone; the other learns of it when, and if, the line lets it.
      faults.awaitWhole();
      return isLost() ? End.SILENT : End.RESET;
    }
  }

  /** Reads a chunk, or returns after {@code waitNanos} without one; 0 waits for ever. */
  private void receive(InputStream in, long waitNanos) throws IOException {
    byte[] buffer = new byte[CHUNK];
    int n;
    try {
      from.setSoTimeout((int) TimeUnit.NANOSECONDS.toMillis(waitNanos) + (waitNanos > 0 ? 1 : 0));
      n = in.read(buffer);
    } catch (SocketTimeoutException e) {
      return;
    }
    if (n < 0) {
      sourceEnded = true;
      return;
    }
    Answer passed = pass(buffer, n);
    long dueNanos = System.nanoTime() + faults.delayNanos(direction);
    parcels.add(new Parcel(dueNanos, passed.bytes(), passed.then()));
    queuedBytes += passed.bytes().length;
  }

  private Answer pass(byte[] buffer, int n) {
    if (direction == Direction.TO_CLIENT) {
      return conversation.answer(buffer, n);
    }
    if (conversation.request(buffer, n)) {
      faults.noteRequest();
    }
    return new Answer(Arrays.copyOf(buffer, n), null);
  }

  private void deliver(Parcel parcel, OutputStream out) throws IOException, InterruptedException {
    byte[] bytes = parcel.bytes;
    int at = 0;
    while (at < bytes.length) {
      faults.awaitWhole();
      if (isLost()) {
        return;
      }
      long rate = faults.bytesPerSecond(direction);
      int left = bytes.length - at;
      int slice = rate == 0 ? left : (int) Math.min(left, Math.max(1, rate / SLICES_PER_SECOND));
      out.write(bytes, at, slice);
      at += slice;
      if (rate > 0) {
        faults.pause(TimeUnit.SECONDS.toNanos(slice) / rate);
      }
    }
  }

  private End finish() throws IOException, InterruptedException {
    faults.awaitWhole();
    if (isLost()) {
      return End.SILENT;
    }
    to.shutdownOutput();
    return End.FINISHED;
  }

  /** Whether what comes now is lost: into a black hole, or after something that was lost. */
  private boolean isLost() {
    silent |= faults.isBlackHole(direction);
    return silent;
  }
}
