package io.pawl.spring;

import io.pawl.GroupLease;
import io.pawl.Lease;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** What a call has taken: one lock, or several together. */
sealed interface Taken {

  boolean has(String lock);

  /** The fencing tokens by the names of the locks, in the order of names. */
  Map<String, Long> tokens();

  boolean isShared();

  void ensureValid();

  void onLost(Runnable callback);

  void close();

  CompletableFuture<Void> closeAsync();

  /** One lock. */
  record One(Lease lease) implements Taken {

    @Override
    public boolean has(String lock) {
      return lease.lock().equals(lock);
    }

    @Override
    public Map<String, Long> tokens() {
      return Map.of(lease.lock(), lease.token());
    }

    @Override
    public boolean isShared() {
      return lease.isShared();
    }

    @Override
    public void ensureValid() {
      lease.ensureValid();
    }

    @Override
    public void onLost(Runnable callback) {
      lease.onLost(callback);
    }

    @Override
    public void close() {
      lease.close();
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
      return lease.closeAsync();
    }
  }

  /** Several locks, of which none is shared. */
  record Several(GroupLease lease) implements Taken {

    @Override
    public boolean has(String lock) {
      return tokens().containsKey(lock);
    }

    @Override
    public Map<String, Long> tokens() {
      return lease.tokens();
    }

    @Override
    public boolean isShared() {
      return false;
    }

    @Override
    public void ensureValid() {
      lease.ensureValid();
    }

    @Override
    public void onLost(Runnable callback) {
      lease.onLost(callback);
    }

    @Override
    public void close() {
      lease.close();
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
      return lease.closeAsync();
    }
  }
}
