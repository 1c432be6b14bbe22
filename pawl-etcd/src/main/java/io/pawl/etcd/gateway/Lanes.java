package io.pawl.etcd.gateway;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.error.StoreException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Some connections that serve one queue of requests, each on a thread of its own, which is started
 * when all others are busy. Thread-safe.
 */
final class Lanes implements AutoCloseable {

  /** How many transactions make one at most. */
  private static final int MOST_TOGETHER = 32;

  /** How often the token of a request may be refused: rights may change meanwhile. */
  private static final int MOST_AUTHENTICATIONS = 3;

  /** How many are examined for transactions that can join. */
  private static final int MOST_EXAMINED = 256;

  private static final int MOST_WAITING = 100_000;
  private static final long CLOSE_MILLIS = 1_000;

  private final Gateway gateway;
  private final Failures failures;
  private final ThreadFactory threads;
  private final int most;

  private final ReentrantLock mutex = new ReentrantLock();
  private final Condition arrived = mutex.newCondition();
  private final ArrayDeque<Call> waiting = new ArrayDeque<>();
  private final List<Lane> lanes = new ArrayList<>();
  private int idle;
  private boolean closed;
  private volatile long answeredAt;
  private volatile boolean answered;

  Lanes(Gateway gateway, Failures failures, String name, int most) {
    this(gateway, failures, DaemonThreads.numbered(name), most);
  }

  Lanes(Gateway gateway, Failures failures, ThreadFactory threads, int most) {
    this.gateway = gateway;
    this.failures = failures;
    this.threads = threads;
    this.most = most;
  }

  boolean answeredWithin(long nanos) {
    return answered && System.nanoTime() - answeredAt < nanos;
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

  /** The next requests, which travel together; empty at the end. */
  private List<Call> next() {
    List<Call> batch = new ArrayList<>();
    mutex.lock();
    try {
      idle++;
      while (waiting.isEmpty() && !closed) {
        arrived.awaitUninterruptibly();
      }
      idle--;
      Call first = waiting.poll();
      if (first == null) {
        return batch;
      }
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
    return batch;
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
    running.forEach(Lane::end);
    running.forEach(Lane::join);
  }

  /** One connection. */
  private final class Lane implements Runnable {
    private volatile @Nullable Thread thread;
    private volatile @Nullable HttpConnection connection;

    @Override
    public void run() {
      try {
        for (List<Call> batch = next(); !batch.isEmpty(); batch = next()) {
          serve(batch);
        }
      } finally {
        disconnect();
      }
    }

    private void serve(List<Call> batch) {
      List<Call> live = new ArrayList<>(batch.size());
      for (Call call : batch) {
        if (System.nanoTime() - call.deadline() > 0) {
          call.failed().accept(failures.unreachable(null, null));
        } else {
          live.add(call);
        }
      }
      if (!live.isEmpty()) {
        try {
          send(live, live.stream().allMatch(Call::repeats));
        } catch (RuntimeException | Error e) {
          live.forEach(call -> call.failed().accept(e));
        }
      }
    }

    /** A refusal concerns all of a batch though one request alone may be its reason. */
    private void send(List<Call> batch, boolean repeats) {
      Map<String, Object> reply;
      try {
        reply = exchange(batch, repeats);
      } catch (RefusedException e) {
        if (batch.size() == 1) {
          throw e;
        }
        batch.forEach(call -> serve(List.of(call)));
        return;
      }
      if (batch.size() == 1) {
        batch.get(0).answered().accept(reply);
        return;
      }
      TxnReply all = TxnReply.of(reply, 0);
      boolean reads = txnOf(batch.get(0)).isPlainRead();
      int from = 0;
      for (int i = 0; i < batch.size(); i++) {
        int size = txnOf(batch.get(i)).size();
        batch.get(i).done().accept(reads ? all.part(from, size) : all.nested(i));
        from += size;
      }
    }

    private Map<String, Object> exchange(List<Call> batch, boolean repeats) {
      Call first = batch.get(0);
      String body =
          batch.size() == 1
              ? first.body()
              : Txn.together(batch.stream().map(Lanes::txnOf).toList()).json();
      long deadline = System.nanoTime() + gateway.target().timeout().toNanos();
      boolean mayAgain = repeats;
      int authentications = 0;
      String stale = null;
      while (true) {
        HttpConnection open = connected(deadline);
        HttpConnection.Response response;
        String used;
        try {
          used =
              stale == null
                  ? gateway.token(open, deadline)
                  : reauthenticated(open, stale, deadline);
          if (open.isLast()) {
            disconnect();
            continue;
          }
          response = open.exchange("POST", first.path(), body, used, deadline);
          if (open.isLast()) {
            disconnect();
          }
        } catch (IOException e) {
          disconnect();
          gateway.endpoints().failed(open.endpoint());
          if (mayAgain && !gateway.isClosed()) {
            mayAgain = false;
            deadline = System.nanoTime() + gateway.target().timeout().toNanos();
            continue;
          }
          throw failures.silent(open.endpoint(), e);
        }
        StoreException refusal;
        if (response.status() == 200) {
          try {
            Map<String, Object> reply = parsed(response.body());
            gateway.checkCluster(open.endpoint(), reply);
            gateway.endpoints().reached();
            answeredAt = System.nanoTime();
            answered = true;
            gateway.answered(reply);
            return reply;
          } catch (StoreException inTheBody) {
            refusal = inTheBody;
          }
        } else {
          refusal = failures.refused(response.status(), response.body(), first.path());
        }
        if (Gateway.isTokenInvalid(refusal)) {
          if (authentications++ == MOST_AUTHENTICATIONS) {
            throw failures.unauthenticated(refusal);
          }
          stale = used == null ? "" : used;
          continue;
        }
        if (!(refusal instanceof RefusedException)) {
          gateway.endpoints().failed(open.endpoint());
        }
        throw refusal;
      }
    }

    private @Nullable String reauthenticated(HttpConnection open, String stale, long deadline)
        throws IOException {
      return gateway.authenticate(open, stale, deadline);
    }

    /** The stream of {@code /v3/lease/keepalive} has one line, with the answer under a name. */
    private Map<String, Object> parsed(byte[] body) {
      Map<String, Object> reply;
      try {
        reply = Json.object(body);
      } catch (IllegalArgumentException e) {
        throw failures.unreadable(e);
      }
      if (reply.containsKey("error")) {
        throw failures.of(Json.text(Json.object(reply, "error"), "message"), 200);
      }
      return reply.containsKey("result") ? Json.object(reply, "result") : reply;
    }

    private HttpConnection connected(long deadline) {
      HttpConnection known = connection;
      if (known != null
          && known.endpoint().equals(gateway.endpoints().current())
          && !known.isStale()) {
        return known;
      }
      disconnect();
      HttpConnection opened = gateway.connect(deadline);
      connection = opened;
      if (gateway.isClosed()) {
        disconnect();
        throw failures.closed();
      }
      return opened;
    }

    private void disconnect() {
      HttpConnection known = connection;
      connection = null;
      if (known != null) {
        known.close();
      }
    }

    private void end() {
      HttpConnection known = connection;
      if (known != null) {
        known.close();
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

  private static Txn txnOf(Call call) {
    Txn txn = call.txn();
    if (txn == null) {
      throw new IllegalStateException(call.path() + " is no transaction");
    }
    return txn;
  }
}
