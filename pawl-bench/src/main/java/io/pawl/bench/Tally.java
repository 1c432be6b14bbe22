package io.pawl.bench;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;

/**
 * What one process counted.
 *
 * @param nanos the measured time
 * @param cpuNanos processor time of the whole process within it
 * @param cycles all grants, those before and after the measured time too
 * @param grants those within it, by thread
 * @param waits in nanoseconds
 * @param writerWaits those of them that were for a lock alone beside readers, in nanoseconds
 * @param handOffs from the moment at which the holder before began to release, in nanoseconds
 * @param jvmHandOffs those of them that came from another process
 */
record Tally(
    long nanos,
    long cpuNanos,
    long cycles,
    long[] grants,
    Histogram waits,
    Histogram writerWaits,
    Histogram handOffs,
    Histogram jvmHandOffs) {

  void write(DataOutputStream out) throws IOException {
    out.writeLong(nanos);
    out.writeLong(cpuNanos);
    out.writeLong(cycles);
    out.writeInt(grants.length);
    for (long count : grants) {
      out.writeLong(count);
    }
    write(waits, out);
    write(writerWaits, out);
    write(handOffs, out);
    write(jvmHandOffs, out);
  }

  private static void write(Histogram histogram, DataOutputStream out) throws IOException {
    ByteBuffer packed = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(packed);
    out.writeInt(length);
    out.write(packed.array(), 0, length);
  }

  static Tally read(DataInputStream in) throws IOException {
    long nanos = in.readLong();
    long cpuNanos = in.readLong();
    long cycles = in.readLong();
    long[] grants = new long[in.readInt()];
    for (int thread = 0; thread < grants.length; thread++) {
      grants[thread] = in.readLong();
    }
    return new Tally(
        nanos,
        cpuNanos,
        cycles,
        grants,
        readHistogram(in),
        readHistogram(in),
        readHistogram(in),
        readHistogram(in));
  }

  private static Histogram readHistogram(DataInputStream in) throws IOException {
    ByteBuffer packed = ByteBuffer.wrap(in.readNBytes(in.readInt()));
    try {
      return Histogram.decodeFromCompressedByteBuffer(packed, 0);
    } catch (DataFormatException e) {
      throw new IOException(e);
    }
  }
}
