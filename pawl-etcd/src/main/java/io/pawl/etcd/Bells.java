package io.pawl.etcd;

import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.WatchStream;
import io.pawl.etcd.gateway.WatchStream.Event;
import io.pawl.etcd.gateway.WatchStream.Watch;
import io.pawl.spi.ClaimId;
import java.util.ArrayList;
import java.util.Collection;
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
 * at once, and only a few, so locks that come later get a further stream, and when there are too
 * many streams one takes the place of all. That is wide if it is for more than a few locks: it
 * watches the whole namespace. A lock stays watched for a while after its last waiter.
 *
 * <p>No event is missed: a claim waits from the revision at which it was read, its watch begins
 * there or has told of that revision, and where the watch is ahead the claim is read again. All the
 * same nothing depends on it: whoever waits also asks. Thread-safe.
 */
final class Bells {

  private static final int MOST_LOCKS = 100_000;

  /** Of a narrow stream. */
  private static final int MOST_LOCKS_OF_A_STREAM = 8;

  private static final long OPENING_NANOS = 1_000_000_000;
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
   * @param revision at which it was read
   * @param lookedFor the later revision of which the watch had told then, for which it is read
   *     again; 0 if there was none
   */
  private record Waiter(
      LocalClaim local, @Nullable String blocker, boolean first, long revision, long lookedFor) {}

  private static final class Lock {
    final Map<ClaimId, Waiter> waiters = new LinkedHashMap<>();
    @Nullable BellStream stream;
    long from;
    long told;
    long usedAt;
  }

  private final Gateway gateway;
  private final Keys keys;
  private final Callbacks callbacks;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, Lock> locks = new HashMap<>();
  private final Set<BellStream> streams = new LinkedHashSet<>();
  private final Set<String> pending = new LinkedHashSet<>();
  private long openNotBefore = System.nanoTime();
  private long suspectedAt;
  private @Nullable BellStream opening;
  private @Nullable BellStream wideStream;
  private @Nullable BellStream suspected;
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
      BellStream wide = wideStream;
      if (lock.stream == null && wide != null) {
        lock.stream = wide;
      }
      BellStream stream = lock.stream;
      long told = stream != null && stream.wide ? stream.toldOf(local.lock()) : lock.told;
      boolean isBehind = stream != null && told > waits.revision();
      Waiter last = lock.waiters.get(local.claim.id());
      // what was read for the sake of that revision is not before it, unless revisions went back
      ahead = isBehind && (last == null || last.lookedFor != told);
      Waiter waiter =
          new Waiter(local, waits.blocker(), waits.first(), waits.revision(), isBehind ? told : 0);
      lock.waiters.put(local.claim.id(), waiter);
      if (stream == null) {
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
    Set<String> wanted = new LinkedHashSet<>(pending);
    List<BellStream> replaced = List.of();
    if (streams.size() >= MOST_STREAMS || wanted.size() > MOST_LOCKS_OF_A_STREAM) {
      replaced = List.copyOf(streams);
      openNotBefore = System.nanoTime() + REPLACE_NANOS;
      prune(System.nanoTime());
      wanted.addAll(locks.keySet());
    }
    wanted.retainAll(locks.keySet());
    pending.clear();
    if (!wanted.isEmpty()) {
      begin(List.copyOf(wanted));
    }
    for (BellStream old : replaced) {
      streams.remove(old);
      opening = opening == old ? null : opening;
      old.close();
    }
  }

  private void begin(List<String> names) {
    boolean wide = names.size() > MOST_LOCKS_OF_A_STREAM;
    BellStream stream = new BellStream(this, keys, names, wide);
    List<Watch> watches = new ArrayList<>();
    long first = Long.MAX_VALUE;
    for (String name : names) {
      Lock lock = locks.get(name);
      if (lock != null) {
        lock.stream = stream;
        lock.told = lock.from - 1; // of what was before, the stream tells nothing
        first = Math.min(first, lock.from);
        watches.add(new Watch(keys.claims(name), true, lock.from, false));
        watches.add(new Watch(keys.kind(name), false, lock.from, true));
      }
    }
    if (wide) {
      stream.forgotten = first - 1;
      watches =
          List.of(
              new Watch(keys.claims(), true, first, false),
              new Watch(keys.kinds(), true, first, true));
      wideStream = stream;
    }
    streams.add(stream);
    opening = stream;
    stream.opened = WatchStream.start(gateway, watches, stream);
  }

  /** Under the mutex. */
  private void prune(long now) {
    locks.values().removeIf(lock -> lock.waiters.isEmpty() && now - lock.usedAt > LINGER_NANOS);
  }

  void started(BellStream stream) {
    mutex.lock();
    try {
      stream.complete = true;
      opening = opening == stream ? null : opening;
      open();
    } finally {
      mutex.unlock();
    }
  }

  void happened(BellStream stream, List<Event> events) {
    List<LocalClaim> granted = new ArrayList<>();
    Set<LocalClaim> changed = new LinkedHashSet<>();
    mutex.lock();
    try {
      for (Event event : events) {
        String name = stream.lockOf(event);
        if (name == null) {
          continue;
        }
        Lock lock = locks.get(name);
        if (stream.wide) {
          stream.tells(name, event.revision());
        }
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

  /**
   * Events may have been missed.
   *
   * @param name of which lock; null if the stream has ended
   */
  void ended(BellStream stream, @Nullable String name) {
    List<LocalClaim> again = new ArrayList<>();
    mutex.lock();
    try {
      if (name == null) {
        openNotBefore = System.nanoTime() + REOPEN_NANOS;
        drop(stream, again);
      } else {
        unwatch(name, stream, again);
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
      BellStream silent = suspected;
      if (silent != null && now - suspectedAt > LOST_NANOS) {
        Lock lock = locks.get(suspectedLock);
        suspected = null;
        if (lock != null && lock.stream == silent && lock.told <= suspectedBeyond) {
          drop(silent, again);
        }
      }
      for (BellStream stream : List.copyOf(streams)) {
        boolean lossy = !stream.complete && now - stream.openedAt > OPENING_NANOS;
        boolean tooWide = stream.wide && locks.size() < MOST_LOCKS_OF_A_STREAM / 2;
        if (lossy
            || tooWide
            || locksOf(stream).stream().noneMatch(name -> isUsed(name, stream, now))) {
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

  /** Under the mutex. */
  private Collection<String> locksOf(BellStream stream) {
    return stream.wide ? List.copyOf(locks.keySet()) : stream.names;
  }

  private boolean isUsed(String name, BellStream stream, long now) {
    Lock lock = locks.get(name);
    return lock != null
        && lock.stream == stream
        && (!lock.waiters.isEmpty() || now - lock.usedAt <= LINGER_NANOS);
  }

  /** Under the mutex. */
  private void drop(BellStream stream, List<LocalClaim> again) {
    streams.remove(stream);
    opening = opening == stream ? null : opening;
    wideStream = wideStream == stream ? null : wideStream;
    stream.close();
    for (String name : locksOf(stream)) {
      unwatch(name, stream, again);
    }
  }

  private void unwatch(String name, BellStream stream, List<LocalClaim> again) {
    Lock lock = locks.get(name);
    if (lock == null || lock.stream != stream) {
      return;
    }
    lock.stream = null;
    if (lock.waiters.isEmpty()) {
      locks.remove(name);
    } else {
      lock.waiters.values().forEach(waiter -> again.add(waiter.local));
    }
  }

  void close() {
    Set<BellStream> open;
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
    open.forEach(BellStream::close);
    for (BellStream stream : open) {
      WatchStream running = stream.opened;
      if (running != null) {
        running.join();
      }
    }
  }
}
