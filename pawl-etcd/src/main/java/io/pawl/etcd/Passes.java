package io.pawl.etcd;

import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Txn;
import io.pawl.etcd.gateway.TxnReply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What attempts rely on. An attempt that was not answered may be on its way for as long as some
 * machine stands still. So every attempt compares that a key exists, its pass, which is put on the
 * lease of its claim under a name that is used once. To withdraw such an attempt its pass is
 * deleted: the attempt can never take effect from then on. Others that rely on the same pass are
 * refused, and made again with the next one.
 *
 * <p>A pass whose put was not answered is relied upon by nobody, so its put may come late. The next
 * put deletes it; what comes later still ends with the lease.
 *
 * <p>Those of one lease. Thread-safe.
 */
final class Passes {

  private final Gateway gateway;
  private final Keys keys;
  private final ReentrantLock mutex = new ReentrantLock();
  private @Nullable CompletableFuture<Pass> known;
  private @Nullable String unanswered;

  Passes(Gateway gateway, Keys keys) {
    this.gateway = gateway;
    this.keys = keys;
  }

  /**
   * A pass.
   *
   * @param key exists as long as attempts may rely on it
   * @param lease to which the pass is attached, and a claim made with it
   */
  record Pass(String key, long lease) {}

  /** The pass on {@code lease}. One transaction for the first. */
  CompletableFuture<Pass> on(long lease) {
    CompletableFuture<Pass> made = new CompletableFuture<>();
    String key = keys.pass(Long.toString(ThreadLocalRandom.current().nextLong(1L << 62), 36));
    String left;
    mutex.lock();
    try {
      CompletableFuture<Pass> pass = known;
      if (pass != null && (!pass.isDone() || isOn(pass, lease))) {
        return pass;
      }
      known = made;
      left = unanswered;
      unanswered = key;
    } finally {
      mutex.unlock();
    }
    try {
      put(key, lease, left)
          .whenComplete(
              (done, error) -> {
                if (error == null) {
                  isAnswered(key);
                  made.complete(new Pass(key, lease));
                } else {
                  made.completeExceptionally(Failures.cause(error));
                }
              });
    } catch (RuntimeException | Error e) { // without more calls: it may be of the stack
      made.completeExceptionally(e);
    }
    return made;
  }

  private CompletableFuture<TxnReply> put(String key, long lease, @Nullable String left) {
    Txn.Op put = Txn.put(key, "", lease);
    return gateway.txn(left == null ? Txn.of(put) : Txn.of(put, Txn.delete(left)));
  }

  private void isAnswered(String key) {
    mutex.lock();
    try {
      if (key.equals(unanswered)) {
        unanswered = null;
      }
    } finally {
      mutex.unlock();
    }
  }

  private static boolean isOn(CompletableFuture<Pass> done, long lease) {
    return !done.isCompletedExceptionally() && done.join().lease == lease;
  }

  /** Takes notice that the pass under {@code key} is no more. */
  void isVoid(String key) {
    mutex.lock();
    try {
      CompletableFuture<Pass> pass = known;
      if (pass != null
          && pass.isDone()
          && !pass.isCompletedExceptionally()
          && pass.join().key.equals(key)) {
        known = null;
      }
    } finally {
      mutex.unlock();
    }
  }

  /** The lease is given back. */
  void forget() {
    mutex.lock();
    try {
      known = null;
    } finally {
      mutex.unlock();
    }
  }
}
