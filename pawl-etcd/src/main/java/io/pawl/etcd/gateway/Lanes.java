package io.pawl.etcd.gateway;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Ends;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Some connections that serve one queue of requests, with as many threads, each of which is started
 * when all others are busy. A thread that would wait for the answer anyway may carry its request
 * itself where a connection is free and nobody waits for one: that saves two changes of threads,
 * which take as long as a read of etcd's. Thread-safe.
 */
final class Lanes implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Lanes.class);

  /** How many transactions make one at most. */
  private static final int MOST_TOGETHER = 32;

  /** How many are examined for transactions that can join. */
  private static final int MOST_EXAMINED = 256;

  private static final int MOST_WAITING = 100_000;

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

  /** Returns when there is something to carry, and something that carries it. Under the mutex. */
  private void awaitWork() {
    idle++;
    try {
      while ((waiting.isEmpty() || free.isEmpty()) && !closed) {
        arrived.awaitUninterruptibly();
      }
    } finally {
      idle--;
    }
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
    if (first.isAlone()) {
      return;
    }
    boolean reads = first.isPlainRead();
    int largest = first.size();
    int sum = first.size();
    Iterator<Call> each = waiting.iterator();
    for (int i = 0; i < MOST_EXAMINED && each.hasNext() && batch.size() < MOST_TOGETHER; i++) {
      Call call = each.next();
      Txn txn = call.txn();
      if (txn == null || txn.isAlone() || txn.isPlainRead() != reads) {
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
    running.forEach(Lane::awaitEnd);
  }

  /** The next request that waits; null while others live to take it. Under no mutex. */
  private @Nullable Call orphan() {
    mutex.lock();
    try {
      return lanes.isEmpty() ? waiting.poll() : null;
    } finally {
      mutex.unlock();
    }
  }

  /** One thread, which ends with the first error: another one is started for what comes next. */
  private final class Lane implements Runnable {
    private volatile @Nullable Thread thread;

    /** Requests that travel together, and what carries them. */
    private final List<Call> batch = new ArrayList<>(MOST_TOGETHER);

    private @Nullable Carrier carrier;

    @Override
    public void run() {
      try {
        for (Carrier next = next(); next != null; next = next()) {
          next.serve(batch);
          batch.clear();
          carrier = null;
          isFree(next);
        }
      } catch (RuntimeException | Error e) { // of memory, say
        end(e);
      }
    }

    /** Takes the next requests, and what carries them; null at the end. */
    private @Nullable Carrier next() {
      Carrier taken;
      mutex.lock();
      try {
        awaitWork();
        Call first = waiting.peek();
        if (first == null) {
          return null;
        }
        taken = free.pop();
        carrier = taken;
        batch.add(first);
        waiting.remove();
        Txn txn = first.txn();
        if (txn != null) {
          join(batch, txn);
        }
      } finally {
        mutex.unlock();
      }
      // who reads at a revision has then seen all that is deleted at it
      batch.sort(Comparator.comparing(call -> !isBlind(call)));
      return taken;
    }

    private void end(Throwable error) {
      Carrier taken = carrier;
      mutex.lock();
      try {
        lanes.remove(this);
        if (taken != null) {
          free.push(taken);
        }
        arrived.signal(); // for a request that came to this one
      } finally {
        mutex.unlock();
      }
      batch.forEach(call -> fail(call, error));
      for (Call call = orphan(); call != null; call = orphan()) {
        fail(call, error);
      }
      log.error("a thread of requests ended; those that it had have failed", error);
    }

    private void fail(Call call, Throwable error) {
      try {
        call.failed().accept(error);
      } catch (RuntimeException | Error e) { // the others are to hear of it all the same
        if (e != error) {
          error.addSuppressed(e);
        }
      }
    }

    private void awaitEnd() {
      Thread running = thread;
      if (running != null && running != Thread.currentThread()) {
        Ends.of(running);
      }
    }
  }
}
