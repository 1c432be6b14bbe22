package io.pawl.etcd;

import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Txn;
import io.pawl.etcd.gateway.TxnReply;
import io.pawl.etcd.gateway.WatchStream;
import io.pawl.etcd.gateway.WatchStream.Event;
import io.pawl.etcd.gateway.WatchStream.Watch;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

  private static final Logger log = LoggerFactory.getLogger(Bells.class);

  private static final int MOST_LOCKS = 100_000;

  /** Of a narrow stream. */
  private static final int MOST_LOCKS_OF_A_STREAM = 8;

  /** More claims of a lock than this are not mirrored. */
  private static final int MOST_MIRRORED = 10_000;

  /** A mirror that could not be made is tried again after this time. */
  private static final long MIRROR_NANOS = 1_000_000_000;

  /** One of too many claims is tried again after this time: each try reads them all. */
  private static final long LONG_MIRROR_NANOS = 60_000_000_000L;

  private static final long OPENING_NANOS = 1_000_000_000;
  private static final int MOST_DOUBLINGS = 2;
  private static final int MOST_STREAMS = 4;
  private static final long LINGER_NANOS = 20_000_000_000L;
  private static final long REOPEN_NANOS = 500_000_000;
  private static final long REPLACE_NANOS = 50_000_000;

  /** An event that is later than this, after it is known to have happened, is taken for lost. */
  private static final long LOST_NANOS = 1_000_000_000;

  /** What becomes of those that wait. Never called under the mutex. */
  interface Callbacks {

    /**
     * What it waited for has ended, and it is held.
     *
     * @param followers claims of this client that stand directly behind it, exclusive as it is
     */
    void granted(LocalClaim local, List<ClaimId> followers);

    /** Their standing may have changed. */
    void lookAgain(List<LocalClaim> locals);
  }

  private record Grant(LocalClaim local, List<ClaimId> followers) {}

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
    final Map<String, Waiter> waiters = new LinkedHashMap<>();
    @Nullable BellStream stream;
    @Nullable QueueMirror mirror;

    /** Events that come while the claims are read of which the mirror is made; else null. */
    @Nullable List<Event> meanwhile;

    /** No mirror is made before. */
    long mirrorNotBefore = System.nanoTime();

    long from;
    long told;
    long usedAt;

    /** A mirror tells of exclusive claims; those of a semaphore all want permits. */
    boolean isMirrored() {
      Iterator<Waiter> each = waiters.values().iterator();
      return each.hasNext() && !(each.next().local.mode() instanceof Mode.Permits);
    }

    /** Whoever waits has read its standing at this revision or later; 0 if nobody waits. */
    long readAt() {
      return waiters.values().stream().mapToLong(Waiter::revision).min().orElse(0);
    }
  }

  private final Gateway gateway;
  private final Keys keys;
  private final Callbacks callbacks;
  private final ThreadFactory threads;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, Lock> locks = new HashMap<>();
  private final Set<BellStream> streams = new LinkedHashSet<>();
  private final Set<String> pending = new LinkedHashSet<>();
  private long openNotBefore = System.nanoTime();
  private long suspectedAt;
  private @Nullable BellStream opening;

  /** How often in a row a stream was given up before etcd had taken its watches. */
  private int givenUp;

  private @Nullable BellStream wideStream;
  private @Nullable BellStream suspected;
  private long suspectedBeyond;
  private long suspectedFirst;
  private @Nullable String suspectedLock;
  private boolean closed;

  Bells(Gateway gateway, Keys keys, Callbacks callbacks) {
    this(gateway, keys, callbacks, WatchStream.THREADS);
  }

  /**
   * @param threads of the streams, one each
   */
  Bells(Gateway gateway, Keys keys, Callbacks callbacks, ThreadFactory threads) {
    this.gateway = gateway;
    this.keys = keys;
    this.callbacks = callbacks;
    this.threads = threads;
  }

  /** The claim waits, as was seen at {@code revision}. */
  void await(LocalClaim local, Look.Seen.Waits waits) {
    boolean ahead;
    List<Grant> granted = new ArrayList<>();
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
      Waiter last = lock.waiters.get(local.key);
      QueueMirror mirror = local.mode() instanceof Mode.Exclusive ? lock.mirror : null;
      boolean isMirrored = mirror != null;
      // what was read for the sake of that revision is not before it, unless revisions went back
      ahead = isBehind && !isMirrored && (last == null || last.lookedFor != told);
      Waiter waiter =
          new Waiter(local, waits.blocker(), waits.first(), waits.revision(), isBehind ? told : 0);
      lock.waiters.put(local.key, waiter);
      if (stream == null) {
        boolean isNew = pending.add(local.lock());
        lock.from = isNew ? waits.revision() + 1 : Math.min(lock.from, waits.revision() + 1);
      }
      if (mirror != null && stream != null && !mirror.has(local.key)) {
        suspect(stream, local, local.createRevision - 1, 0); // which has to be told of its making
      }
      open();
      mirror(local.lock(), lock);
      serve(lock, granted);
    } finally {
      mutex.unlock();
    }
    granted.forEach(grant -> callbacks.granted(grant.local, grant.followers));
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
    return lock.waiters.remove(local.key);
  }

  /** The claim was found held by asking: the event that says so should have come, or comes now. */
  void foundHeld(LocalClaim local) {
    mutex.lock();
    try {
      Waiter waiter = remove(local);
      Lock lock = locks.get(local.lock());
      if (waiter != null && lock != null && lock.stream != null) {
        boolean isAlone = local.mode() instanceof Mode.Exclusive;
        suspect(lock.stream, local, waiter.revision, isAlone ? local.createRevision : 0);
      }
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Under the mutex. One suspicion at a time.
   *
   * @param beyond the stream has to tell of a later revision of the lock
   * @param first since when no claim can be there that was made before; 0 where some can
   */
  private void suspect(BellStream stream, LocalClaim local, long beyond, long first) {
    if (suspected == null) {
      suspected = stream;
      suspectedLock = local.lock();
      suspectedBeyond = beyond;
      suspectedFirst = first;
      suspectedAt = System.nanoTime();
    }
  }

  /** Under the mutex. Has the claims of a lock read, unless they are known, or too many. */
  private void mirror(String name, Lock lock) {
    BellStream stream = lock.stream;
    if (stream == null
        || stream.wide
        || !stream.complete
        || lock.mirror != null
        || lock.meanwhile != null
        || !lock.isMirrored()
        || System.nanoTime() - lock.mirrorNotBefore < 0) {
      return;
    }
    lock.meanwhile = new ArrayList<>();
    lock.mirrorNotBefore = System.nanoTime() + MIRROR_NANOS;
    String claims = keys.claims(name);
    gateway
        .look(Txn.of(Txn.page(claims, claims, MOST_MIRRORED, true)))
        .whenComplete((reply, error) -> mirrored(name, stream, reply));
  }

  private void mirrored(String name, BellStream stream, @Nullable TxnReply reply) {
    List<Grant> granted = new ArrayList<>();
    mutex.lock();
    try {
      Lock lock = locks.get(name);
      if (lock == null || lock.stream != stream || lock.meanwhile == null) {
        return;
      }
      List<Event> meanwhile = lock.meanwhile;
      lock.meanwhile = null;
      if (reply == null) {
        return;
      }
      if (reply.found(0).size() >= MOST_MIRRORED || meanwhile.size() >= MOST_MIRRORED) {
        lock.mirrorNotBefore = System.nanoTime() + LONG_MIRROR_NANOS;
        return;
      }
      QueueMirror mirror = new QueueMirror(reply.found(0), reply.revision());
      meanwhile.forEach(mirror::hear);
      lock.mirror = mirror;
      serve(lock, granted);
    } finally {
      mutex.unlock();
    }
    granted.forEach(grant -> callbacks.granted(grant.local, grant.followers));
  }

  /** Under the mutex. Grants the first claim of a mirrored queue where it waits here. */
  private static void serve(Lock lock, List<Grant> granted) {
    QueueMirror mirror = lock.mirror;
    String first = mirror == null ? null : mirror.first();
    Waiter waiter = first == null ? null : lock.waiters.get(first);
    if (mirror == null || waiter == null || !(waiter.local.mode() instanceof Mode.Exclusive)) {
      return;
    }
    if (!mirror.beginsAt(waiter.local.createRevision)) {
      return; // a late copy has made the key anew: its claim has ended
    }
    lock.waiters.remove(first);
    lock.usedAt = System.nanoTime();
    List<ClaimId> followers = new ArrayList<>();
    int most = Math.min(waiter.local.claim.tokens(), StoredClaim.MOST_TOKENS) - 1;
    for (String key : mirror.others()) {
      Waiter next = lock.waiters.get(key);
      if (followers.size() >= most
          || next == null
          || !(next.local.mode() instanceof Mode.Exclusive)) {
        break;
      }
      followers.add(next.local.claim.id());
    }
    granted.add(new Grant(waiter.local, followers));
  }

  /** The number of claims of a lock; 0 where they are not known without asking. */
  int lengthOf(String name) {
    mutex.lock();
    try {
      Lock lock = locks.get(name);
      QueueMirror mirror = lock == null ? null : lock.mirror;
      return mirror == null ? 0 : mirror.size();
    } finally {
      mutex.unlock();
    }
  }

  /** The first revision of which any of its streams is to tell; 0 without a stream. */
  long firstRevision() {
    mutex.lock();
    try {
      return streams.stream()
          .map(stream -> stream.opened)
          .filter(Objects::nonNull)
          .flatMap(opened -> opened.watches().stream())
          .mapToLong(Watch::from)
          .min()
          .orElse(0);
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
      locks.values().removeIf(lock -> lock.waiters.isEmpty());
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
        boolean wasMirrored = lock.mirror != null && !lock.waiters.isEmpty();
        lock.mirror = null;
        lock.meanwhile = null;
        // it may have waited for hours; what only its mirror has heard is told to its waiters
        lock.from = wasMirrored ? lock.readAt() + 1 : Math.max(lock.from, lock.readAt() + 1);
        lock.told = lock.from - 1; // of what was before, the stream tells nothing
        first = Math.min(first, lock.from);
        watches.add(new Watch(keys.claims(name), true, lock.from, true, true));
        watches.add(new Watch(keys.kind(name), false, lock.from, true, true));
      }
    }
    if (wide) {
      stream.forgotten = first - 1;
      watches =
          List.of(
              new Watch(keys.claims(), true, first, false, true),
              // kinds of idle locks run out together, some hundred thousand in one message
              new Watch(keys.kinds(), true, first, true, false));
      wideStream = stream;
    }
    streams.add(stream);
    opening = stream;
    try {
      stream.opened = WatchStream.start(gateway, watches, stream, threads);
    } catch (Error e) { // of threads, where none can be started: tick() has another one opened
      log.debug("nobody watches; whoever waits asks", e);
    }
  }

  /** Under the mutex. */
  private void prune(long now) {
    locks.values().removeIf(lock -> lock.waiters.isEmpty() && now - lock.usedAt > LINGER_NANOS);
  }

  void started(BellStream stream) {
    mutex.lock();
    try {
      stream.complete = true;
      givenUp = 0;
      opening = opening == stream ? null : opening;
      for (String name : stream.names) {
        Lock lock = locks.get(name);
        if (lock != null && lock.stream == stream) {
          mirror(name, lock);
        }
      }
      open();
    } finally {
      mutex.unlock();
    }
  }

  void happened(BellStream stream, List<Event> events) {
    List<Grant> granted = new ArrayList<>();
    Set<LocalClaim> changed = new LinkedHashSet<>();
    Set<Lock> mirrored = new LinkedHashSet<>();
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
        if (lock == null || lock.stream != stream) {
          continue; // another stream tells it of the same event
        }
        lock.told = Math.max(lock.told, event.revision());
        lock.from = Math.max(lock.from, event.revision() + 1);
        boolean ofClaims = event.watch() % 2 == 0;
        if (ofClaims && isMirrored(lock, event)) {
          mirrored.add(lock);
        }
        if (!ofClaims || event.deleted()) {
          tell(lock, event, ofClaims, granted, changed);
        }
      }
      mirrored.forEach(lock -> serve(lock, granted));
    } finally {
      mutex.unlock();
    }
    granted.forEach(grant -> callbacks.granted(grant.local, grant.followers));
    if (!changed.isEmpty()) {
      callbacks.lookAgain(List.copyOf(changed));
    }
  }

  /** Under the mutex. Tells the mirror of a lock, or keeps the event for the one in the making. */
  private static boolean isMirrored(Lock lock, Event event) {
    List<Event> meanwhile = lock.meanwhile;
    if (meanwhile != null && meanwhile.size() < MOST_MIRRORED) {
      meanwhile.add(event);
    }
    QueueMirror mirror = lock.mirror;
    if (mirror == null) {
      return false;
    }
    mirror.hear(event);
    if (mirror.size() > 2 * MOST_MIRRORED) {
      lock.mirror = null;
    }
    return true;
  }

  /** Under the mutex. Whoever waits exclusively behind a mirrored queue hears of it by that. */
  private static void tell(
      Lock lock, Event event, boolean ofClaims, List<Grant> granted, Set<LocalClaim> changed) {
    if (ofClaims) {
      Waiter gone = lock.waiters.get(event.key());
      if (gone != null && event.revision() > gone.revision) {
        lock.waiters.remove(event.key());
        changed.remove(gone.local);
      }
    }
    for (Waiter waiter : List.copyOf(lock.waiters.values())) {
      boolean isMirrored = lock.mirror != null && waiter.local.mode() instanceof Mode.Exclusive;
      if (isMirrored || event.revision() <= waiter.revision) {
        continue;
      }
      if (ofClaims && event.key().equals(waiter.blocker) && waiter.first) {
        lock.waiters.remove(waiter.local.key);
        lock.usedAt = System.nanoTime();
        changed.remove(waiter.local);
        granted.add(new Grant(waiter.local, List.of()));
      } else if (!ofClaims || waiter.blocker == null || event.key().equals(waiter.blocker)) {
        changed.add(waiter.local);
      }
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
        if (lock != null && lock.stream == silent) {
          if (lock.told <= suspectedBeyond && silent.complete) {
            drop(silent, again);
          } else if (lock.mirror != null && lock.mirror.beginsBefore(suspectedFirst)) {
            lock.mirror = null; // it has missed an end; it is read anew
          }
        }
      }
      long patience = OPENING_NANOS << Math.min(givenUp, MOST_DOUBLINGS); // the network may be slow
      for (BellStream stream : List.copyOf(streams)) {
        boolean lossy = !stream.complete && now - stream.openedAt > patience;
        givenUp += lossy ? 1 : 0;
        boolean tooWide = stream.wide && locks.size() < MOST_LOCKS_OF_A_STREAM / 2;
        if (lossy
            || tooWide
            || locksOf(stream).stream().noneMatch(name -> isUsed(name, stream, now))) {
          drop(stream, again);
        }
      }
      prune(now);
      open();
      locks.forEach(this::mirror);
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
    lock.mirror = null;
    lock.meanwhile = null;
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
