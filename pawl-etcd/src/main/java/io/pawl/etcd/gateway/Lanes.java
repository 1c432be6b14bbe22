package io.pawl.etcd.gateway;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.KeptInterrupts;
import io.pawl.error.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Some connections that serve one queue of requests, with as many threads, each of which is started
 * when all others are busy. A thread that would wait for the answer anyway may carry its request
 * itself where a connection is free and nobody waits for one: that saves two changes of threads,
 * which take as long as a read of etcd's. Thread-safe.
 */
final class Lanes implements AutoCloseable {

  /** How many transactions make one at most. */
  private static final int MOST_TOGETHER = 32;

  /** How many are examined for transactions that can join. */
  private static final int MOST_EXAMINED = 256;

  private static final int MOST_WAITING = 100_000;
  private static final long CLOSE_MILLIS = 1_000;

  private final Failures failures;
  private final ThreadFactory threads;
  private final int most;

  private final ReentrantLock mutex = new ReentrantLock();
  private final Condition arrived = mutex.newCondition();
  private final ArrayDeque<Call> waiting = new ArrayDeque<>();
  private final List<Lane> lanes = new ArrayList<>();
  private final List<Carrier> carriers = new ArrayList<>();

  /** The one that was used last is the next. */
  private final ArrayDeque<Carrier> free = new ArrayDeque<>();

  private int idle;
  private boolean closed;

  Lanes(Gateway gateway, Failures failures, String name, int most) {
    this(gateway, failures, DaemonThreads.numbered(name), most);
  }

  Lanes(Gateway gateway, Failures failures, ThreadFactory threads, int most) {
    this.failures = failures;
    this.threads = threads;
    this.most = most;
    for (int i = 0; i < most; i++) {
      carriers.add(new Carrier(gateway, failures));
    }
    free.addAll(carriers);
  }

  void submit(Call call) {
    StoreException refusal = null;
    mutex.lock();
    try {
      if (closed) {
        refusal = failures.closed();
      } else if (waiting.size() >= MOST_WAITING) {
        refusal = failures.unreachable(null, null);
      } else if (idle > waiting.size() || lanes.size() >= most) {
        waiting.add(call);
        arrived.signal();
      } else {
        refusal = startLane();
        if (refusal == null) {
          waiting.add(call);
        } else if (!lanes.isEmpty()) {
          refusal = null; // another takes it when it has the time
          waiting.add(call);
          arrived.signal();
        }
      }
    } finally {
      mutex.unlock();
    }
    if (refusal != null) {
      call.failed().accept(refusal);
    }
  }

  /**
   * Carries a request on this thread, until its answer has come and been told; false where that
   * would keep others waiting, or this one.
   */
  boolean carriesHere(Call call) {
    Carrier carrier;
    mutex.lock();
    try {
      if (closed || !waiting.isEmpty() || free.isEmpty()) {
        return false;
      }
      carrier = free.pop();
    } finally {
      mutex.unlock();
    }
    try (KeptInterrupts kept = new KeptInterrupts()) {
      kept.clear(); // it has to be sent all the same, and its answer is to be known
      carrier.serve(List.of(call));
    } finally {
      isFree(carrier);
    }
    return true;
  }

  private void isFree(Carrier carrier) {
    mutex.lock();
    try {
      free.push(carrier);
      if (!waiting.isEmpty()) {
        arrived.signal();
      }
    } finally {
      mutex.unlock();
    }
  }

  /** Says why no thread can be started for it; null where one is. */
  private @Nullable StoreException startLane() {
    Lane lane = new Lane();
    try {
      lane.thread = threads.newThread(lane);
      lane.thread.start();
    } catch (Error e) { // of memory, or of threads
      return failures.threadless(e);
    }
    lanes.add(lane);
    return null;
  }

  /** Requests that travel together, and what carries them. */
  private record Trip(Carrier carrier, List<Call> batch) {}

  /** The next one; null at the end. */
  private @Nullable Trip next() {
    List<Call> batch = new ArrayList<>();
    Carrier carrier;
    mutex.lock();
    try {
      idle++;
      while ((waiting.isEmpty() || free.isEmpty()) && !closed) {
        arrived.awaitUninterruptibly();
      }
      idle--;
      Call first = waiting.poll();
      if (first == null) {
        return null;
      }
      carrier = free.pop();
      batch.add(first);
      Txn txn = first.txn();
      if (txn != null) {
        join(batch, txn);
      }
    } finally {
      mutex.unlock();
    }
    // who reads at a revision has then seen all that is deleted at it
    batch.sort(Comparator.comparing(call -> !isBlind(call)));
    return new Trip(carrier, batch);
  }

  private static boolean isBlind(Call call) {
    Txn txn = call.txn();
    return txn != null && txn.isBlind();
  }

  /**
   * Under the mutex. Those that only read travel together, and the others: a read among changes
   * would wait for the disk.
   */
  private void join(List<Call> batch, Txn first) {
    boolean reads = first.isPlainRead();
    int largest = first.size();
    int sum = first.size();
    Iterator<Call> each = waiting.iterator();
    for (int i = 0; i < MOST_EXAMINED && each.hasNext() && batch.size() < MOST_TOGETHER; i++) {
      Call call = each.next();
      Txn txn = call.txn();
      if (txn == null || txn.isPlainRead() != reads) {
        continue;
      }
      largest = Math.max(largest, txn.size());
      sum += txn.size();
      if ((reads ? sum : batch.size() + 1 + largest) > Txn.MOST_OPS_OF_ETCD) {
        return;
      }
      batch.add(call);
      each.remove();
    }
  }

  @Override
  public void close() {
    List<Call> left;
    List<Lane> running;
    mutex.lock();
    try {
      closed = true;
      left = new ArrayList<>(waiting);
      waiting.clear();
      running = new ArrayList<>(lanes);
      arrived.signalAll();
    } finally {
      mutex.unlock();
    }
    left.forEach(call -> call.failed().accept(failures.closed()));
    carriers.forEach(Carrier::end);
    running.forEach(Lane::join);
  }

  /** One thread. */
  private final class Lane implements Runnable {
    private volatile @Nullable Thread thread;

    @Override
    public void run() {
      for (Trip trip = next(); trip != null; trip = next()) {
        try {
          trip.carrier.serve(trip.batch);
        } finally {
          isFree(trip.carrier);
        }
      }
    }

    private void join() {
      Thread running = thread;
      if (running == null || running == Thread.currentThread()) {
        return;
      }
      try {
        running.join(CLOSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
