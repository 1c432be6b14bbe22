package io.pawl.etcd;

import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.WatchStream;
import io.pawl.etcd.gateway.WatchStream.Event;
import io.pawl.etcd.gateway.WatchStream.Watch;
import io.pawl.spi.ClaimId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Who waits for whom, and the watches that tell of it: deletions of a lock's claims, and changes of
 * its kind, for each lock that this client waits for. The gateway takes the watches of a stream all
 * at once, so locks that come later get a further stream, and when there are too many streams one
 * takes the place of all. A lock stays watched for a while after its last waiter.
 *
 * <p>No event is missed: a claim waits from the revision at which it was read, its watch begins
 * there or has told of that revision, and where the watch is ahead the claim is read again. All the
 * same nothing depends on it: whoever waits also asks. Thread-safe.
 */
final class Bells {

  private static final int MOST_LOCKS = 1_000;
  private static final int MOST_STREAMS = 4;
  private static final long LINGER_NANOS = 20_000_000_000L;
  private static final long REOPEN_NANOS = 500_000_000;
  private static final long REPLACE_NANOS = 50_000_000;

  /** An event that is later than this after its grant was found otherwise is taken for lost. */
  private static final long LOST_NANOS = 1_000_000_000;

  /** What becomes of those that wait. Never called under the mutex. */
  interface Callbacks {

    /** What it waited for has ended, and it is held. */
    void granted(LocalClaim local);

    /** Their standing may have changed. */
    void lookAgain(List<LocalClaim> locals);
  }

  /**
   * @param blocker whose end is waited for, null for any
   * @param first whether nobody stands before the blocker
   */
  private record Waiter(LocalClaim local, @Nullable String blocker, boolean first, long revision) {}

  private static final class Lock {
    final Map<ClaimId, Waiter> waiters = new LinkedHashMap<>();
    @Nullable Stream stream;
    long from;
    long told;
    long usedAt;
  }

  private final class Stream implements WatchStream.Listener {
    final List<String> locks;
    final @Nullable WatchStream[] opened = new WatchStream[1];

    Stream(List<String> locks) {
      this.locks = locks;
    }

    @Override
    public void started() {
      Bells.this.started(this);
    }

    @Override
    public void happened(List<Event> events) {
      Bells.this.happened(this, events);
    }

    @Override
    public void ended(int watch) {
      Bells.this.ended(this, List.of(locks.get(watch / 2)), false);
    }

    @Override
    public void broken() {
      Bells.this.ended(this, locks, true);
    }

    void close() {
      WatchStream stream = opened[0];
      if (stream != null) {
        stream.close();
      }
    }
  }

  private final Gateway gateway;
  private final Keys keys;
  private final Callbacks callbacks;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, Lock> locks = new HashMap<>();
  private final Set<Stream> streams = new LinkedHashSet<>();
  private final Set<String> pending = new LinkedHashSet<>();
  private long openNotBefore = System.nanoTime();
  private long suspectedAt;
  private @Nullable Stream opening;
  private @Nullable Stream suspected;
  private long suspectedBeyond;
  private @Nullable String suspectedLock;
  private boolean closed;

  Bells(Gateway gateway, Keys keys, Callbacks callbacks) {
    this.gateway = gateway;
    this.keys = keys;
    this.callbacks = callbacks;
  }

  /** The claim waits, as was seen at {@code revision}. */
  void await(LocalClaim local, Look.Seen.Waits waits) {
    boolean ahead;
    mutex.lock();
    try {
      if (closed) {
        return;
      }
      Lock lock = locks.get(local.lock());
      if (lock == null) {
        if (locks.size() >= MOST_LOCKS) {
          return; // it is served when it asks
        }
        lock = new Lock();
        locks.put(local.lock(), lock);
      }
      Waiter waiter = new Waiter(local, waits.blocker(), waits.first(), waits.revision());
      lock.waiters.put(local.claim.id(), waiter);
      ahead = lock.told > waits.revision();
      if (lock.stream == null) {
        boolean isNew = pending.add(local.lock());
        lock.from = isNew ? waits.revision() + 1 : Math.min(lock.from, waits.revision() + 1);
      }
      open();
    } finally {
      mutex.unlock();
    }
    if (ahead) {
      callbacks.lookAgain(List.of(local));
    }
  }

  /** The claim waits no more. */
  void forget(LocalClaim local) {
    mutex.lock();
    try {
      remove(local);
    } finally {
      mutex.unlock();
    }
  }

  private @Nullable Waiter remove(LocalClaim local) {
    Lock lock = locks.get(local.lock());
    if (lock == null) {
      return null;
    }
    lock.usedAt = System.nanoTime();
    return lock.waiters.remove(local.claim.id());
  }

  /** The claim was found held by asking: the event that says so should have come, or comes now. */
  void foundHeld(LocalClaim local) {
    mutex.lock();
    try {
      Waiter waiter = remove(local);
      Lock lock = locks.get(local.lock());
      if (waiter != null && lock != null && lock.stream != null && suspected == null) {
        suspected = lock.stream;
        suspectedLock = local.lock();
        suspectedBeyond = waiter.revision;
        suspectedAt = System.nanoTime();
      }
    } finally {
      mutex.unlock();
    }
  }

  /** Under the mutex. One opening at a time takes all that came meanwhile. */
  private void open() {
    if (pending.isEmpty() || closed || opening != null || System.nanoTime() - openNotBefore < 0) {
      return;
    }
    List<Stream> replaced = List.of();
    Set<String> wanted = new LinkedHashSet<>(pending);
    if (streams.size() >= MOST_STREAMS) {
      replaced = List.copyOf(streams);
      openNotBefore = System.nanoTime() + REPLACE_NANOS;
      prune(System.nanoTime());
      wanted.addAll(locks.keySet());
    }
    pending.clear();
    List<Watch> watches = new ArrayList<>();
    List<String> names = new ArrayList<>();
    Stream stream = new Stream(names);
    for (String name : wanted) {
      Lock lock = locks.get(name);
      if (lock != null) {
        lock.stream = stream;
        names.add(name);
        watches.add(new Watch(keys.claims(name), true, lock.from, false));
        watches.add(new Watch(keys.kind(name), false, lock.from, true));
      }
    }
    if (!names.isEmpty()) {
      streams.add(stream);
      opening = stream;
      stream.opened[0] = WatchStream.start(gateway, watches, stream);
    }
    for (Stream old : replaced) {
      streams.remove(old);
      opening = opening == old ? null : opening;
      old.close();
    }
  }

  /** Under the mutex. */
  private void prune(long now) {
    locks.values().removeIf(lock -> lock.waiters.isEmpty() && now - lock.usedAt > LINGER_NANOS);
  }

  private void started(Stream stream) {
    mutex.lock();
    try {
      opening = opening == stream ? null : opening;
      open();
    } finally {
      mutex.unlock();
    }
  }

  private void happened(Stream stream, List<Event> events) {
    List<LocalClaim> granted = new ArrayList<>();
    Set<LocalClaim> changed = new LinkedHashSet<>();
    mutex.lock();
    try {
      for (Event event : events) {
        Lock lock = locks.get(stream.locks.get(event.watch() / 2));
        if (lock == null) {
          continue;
        }
        lock.told = Math.max(lock.told, event.revision());
        lock.from = Math.max(lock.from, event.revision() + 1);
        boolean ofClaims = event.watch() % 2 == 0;
        for (Waiter waiter : List.copyOf(lock.waiters.values())) {
          if (event.revision() <= waiter.revision) {
            continue;
          }
          if (ofClaims && event.key().equals(waiter.local.key)) {
            lock.waiters.remove(waiter.local.claim.id());
            granted.remove(waiter.local);
            changed.remove(waiter.local);
          } else if (ofClaims && event.key().equals(waiter.blocker) && waiter.first) {
            lock.waiters.remove(waiter.local.claim.id());
            granted.add(waiter.local);
          } else if (!ofClaims || waiter.blocker == null || event.key().equals(waiter.blocker)) {
            changed.add(waiter.local);
          }
        }
        lock.usedAt = System.nanoTime();
      }
    } finally {
      mutex.unlock();
    }
    granted.forEach(callbacks::granted);
    if (!changed.isEmpty()) {
      callbacks.lookAgain(List.copyOf(changed));
    }
  }

  /** Events of {@code names} may have been missed. */
  private void ended(Stream stream, List<String> names, boolean whole) {
    List<LocalClaim> again = new ArrayList<>();
    mutex.lock();
    try {
      if (whole) {
        streams.remove(stream);
        opening = opening == stream ? null : opening;
        openNotBefore = System.nanoTime() + REOPEN_NANOS;
      }
      for (String name : names) {
        Lock lock = locks.get(name);
        if (lock == null || lock.stream != stream) {
          continue;
        }
        lock.stream = null;
        if (lock.waiters.isEmpty()) {
          locks.remove(name);
        } else {
          lock.waiters.values().forEach(waiter -> again.add(waiter.local));
        }
      }
    } finally {
      mutex.unlock();
    }
    if (!again.isEmpty()) {
      callbacks.lookAgain(again);
    }
  }

  /**
   * Opens what is due, and closes what nobody needs or what has become silent.
   *
   * @return whether there is nothing to look after
   */
  boolean tick(long now) {
    List<LocalClaim> again = new ArrayList<>();
    mutex.lock();
    try {
      Stream silent = suspected;
      if (silent != null && now - suspectedAt > LOST_NANOS) {
        Lock lock = locks.get(suspectedLock);
        suspected = null;
        if (lock != null && lock.stream == silent && lock.told <= suspectedBeyond) {
          drop(silent, again);
        }
      }
      for (Stream stream : List.copyOf(streams)) {
        if (stream.locks.stream().noneMatch(name -> isUsed(name, stream, now))) {
          drop(stream, again);
        }
      }
      prune(now);
      open();
      return streams.isEmpty() && pending.isEmpty();
    } finally {
      mutex.unlock();
      if (!again.isEmpty()) {
        callbacks.lookAgain(again);
      }
    }
  }

  private boolean isUsed(String name, Stream stream, long now) {
    Lock lock = locks.get(name);
    return lock != null
        && lock.stream == stream
        && (!lock.waiters.isEmpty() || now - lock.usedAt <= LINGER_NANOS);
  }

  /** Under the mutex. */
  private void drop(Stream stream, List<LocalClaim> again) {
    streams.remove(stream);
    opening = opening == stream ? null : opening;
    stream.close();
    for (String name : stream.locks) {
      Lock lock = locks.get(name);
      if (lock != null && lock.stream == stream) {
        lock.stream = null;
        lock.waiters.values().forEach(waiter -> again.add(waiter.local));
        if (lock.waiters.isEmpty()) {
          locks.remove(name);
        }
      }
    }
  }

  void close() {
    Set<Stream> open;
    mutex.lock();
    try {
      closed = true;
      open = new HashSet<>(streams);
      streams.clear();
      locks.clear();
      pending.clear();
    } finally {
      mutex.unlock();
    }
    open.forEach(Stream::close);
    for (Stream stream : open) {
      WatchStream running = stream.opened[0];
      if (running != null) {
        running.join();
      }
    }
  }
}
