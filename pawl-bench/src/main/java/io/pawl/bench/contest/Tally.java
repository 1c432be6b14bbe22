package io.pawl.bench.contest;

import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Numbers;
import io.pawl.bench.report.Sample;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
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

  /** Grows to 30 kB at most, small enough beside the caches with 64 threads. */
  static Histogram newHistogram() {
    return new Histogram(2);
  }

  /**
   * All processes of one run taken together.
   *
   * @param load what they were told to do
   * @param store what it did for them, from before they connected, where it counts
   */
  static Sample sum(Load load, List<Tally> processes, Usage store) {
    double perSecond = 0;
    double cpuNanos = 0;
    long cycles = 0;
    Histogram waits = newHistogram();
    Histogram handOffs = newHistogram();
    Histogram jvmHandOffs = newHistogram();
    long longestWriterWait = 0;
    double longest = 0;
    long[] perJvm = new long[processes.size()];
    int threads = processes.get(0).grants().length;
    long[] perThread = new long[processes.size() * threads];
    for (int jvm = 0; jvm < perJvm.length; jvm++) {
      Tally tally = processes.get(jvm);
      for (int thread = 0; thread < threads; thread++) {
        perThread[jvm * threads + thread] = tally.grants()[thread];
        perJvm[jvm] += tally.grants()[thread];
      }
      perSecond += perJvm[jvm] * 1e9 / tally.nanos();
      cpuNanos += tally.cpuNanos();
      cycles += tally.cycles();
      waits.add(tally.waits());
      handOffs.add(tally.handOffs());
      jvmHandOffs.add(tally.jvmHandOffs());
      longestWriterWait = Math.max(longestWriterWait, tally.writerWaits().getMaxValue());
      longest = Math.max(longest, tally.nanos());
    }
    Map<Metric, Double> figures = new EnumMap<>(Metric.class);
    figures.put(Metric.CYCLES, perSecond);
    figures.put(Metric.P50, waits.getValueAtPercentile(50) / 1e3);
    figures.put(Metric.P99, waits.getValueAtPercentile(99) / 1e3);
    figures.put(Metric.MAX, waits.getMaxValue() / 1e6);
    if (load.readPercent() > 0) {
      figures.put(Metric.WRITER_MAX, longestWriterWait / 1e6);
    }
    if (perThread.length > 1) {
      figures.put(Metric.THREAD_SPREAD, Numbers.spread(perThread));
    }
    if (perJvm.length > 1) {
      figures.put(Metric.JVM_SPREAD, Numbers.spread(perJvm));
    }
    if (load.handOffs() && handOffs.getTotalCount() > 0) {
      figures.put(Metric.ANY_HAND_OFF_P50, handOffs.getValueAtPercentile(50) / 1e6);
    }
    if (jvmHandOffs.getTotalCount() > 0) {
      figures.put(Metric.HAND_OFF_P50, jvmHandOffs.getValueAtPercentile(50) / 1e6);
      figures.put(Metric.HAND_OFF_P99, jvmHandOffs.getValueAtPercentile(99) / 1e6);
    }
    if (load.cycles() > 0) {
      figures.put(Metric.ALL_MILLIS, longest / 1e6);
    }
    figures.put(Metric.CPU_SECONDS, cpuNanos / 1e9);
    figures.put(Metric.CPU_MICROS, cpuNanos / 1e3 / Arrays.stream(perJvm).sum());
    if (store.cpuNanos().isPresent()) {
      figures.put(Metric.STORE_CPU_MICROS, store.cpuNanos().getAsLong() / 1e3 / cycles);
    }
    if (store.operations().isPresent()) {
      figures.put(Metric.OPERATIONS, (double) store.operations().getAsLong() / cycles);
    }
    return new Sample(figures);
  }
}
