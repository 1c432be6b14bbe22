package io.pawl.micrometer;

import io.micrometer.tracing.Link;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.pawl.Pawl;
import io.pawl.options.LockObserver;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits and holds of one client as spans of the traces that they are part of. The span of a wait
 * has a link to the trace that held the lock, in this process or another. Pass it to {@link
 * PawlOptions#observer}, and the client to {@link #lookAt}.
 *
 * <p>A request tells others of its trace in the note of its claim. Who waits for longer than {@link
 * #LOOK_AFTER} asks the store who holds the lock, on a thread of this object's: one round trip
 * then, and further ones after twice, four times, eight times as long, for a lock that this client
 * waits for, however many of its threads do; at most 10, and from the start again for each new
 * wait. A wait that is shorter causes no round trip, and has a link only where one for another wait
 * fell into it.
 *
 * <p>A thread without a span has no spans of waits and holds either, nor do requests that block no
 * thread, and groups; their notes tell of their traces all the same.
 *
 * <p>Thread-safe.
 */
public final class LockSpans implements LockObserver, AutoCloseable {

  /** How long a wait lasts before the store is asked for the holder: 500 ms. */
  public static final Duration LOOK_AFTER = Duration.ofMillis(500);

  /** A shorter wait, as of each lock that was free, has no span: 1 ms. */
  static final Duration SHORTEST_WAIT = Duration.ofMillis(1);

  private static final int MOST_HOLDS = 10_000;
  private static final int MOST_EARLY = 1_000;

  private final Tracer tracer;
  private final LockGroups groups;
  private final LongSupplier nanos;
  private final HolderLooks looks;
  private final Map<Hold, Held> holds = new ConcurrentHashMap<>();

  /** Why, of the last losses of which no grant was known: each may be told before its grant. */
  private final Map<Hold, String> early =
      Collections.synchronizedMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Hold, String> eldest) {
              return size() > MOST_EARLY;
            }
          });

  /** A lease of this client. */
  private record Hold(String lock, long token) {}

  /** Under which span it was granted, and when. */
  private record Held(TraceContext parent, long since) {}

  /** Groups locks {@linkplain LockGroups#byBeginning() by the beginning of their names}. */
  public LockSpans(Tracer tracer) {
    this(tracer, LockGroups.byBeginning());
  }

  /**
   * @param groups names the tag of each span; no tag has a lock's name
   */
  public LockSpans(Tracer tracer, LockGroups groups) {
    this(tracer, groups, LOOK_AFTER, System::nanoTime);
  }

  LockSpans(Tracer tracer, LockGroups groups, Duration lookAfter, LongSupplier nanos) {
    this.tracer = Objects.requireNonNull(tracer, "tracer");
    this.groups = Objects.requireNonNull(groups, "groups");
    this.nanos = nanos;
    this.looks = new HolderLooks(lookAfter, nanos, this::ownHolders);
  }

  /** Asks {@code pawl} for holders; until then spans of waits have links within this client. */
  public void lookAt(Pawl pawl) {
    looks.lookAt(pawl);
  }

  /** Ends the thread that asks for holders. Spans are written as before, without links. */
  @Override
  public void close() {
    looks.close();
  }

  /** The trace of the calling thread. */
  @Override
  public String noteFor(String lock) {
    TraceContext current = current();
    return current == null ? "" : TraceNote.of(current).toString();
  }

  /** Null where this thread has no span, or one of a tracer that makes no traces. */
  private @Nullable TraceContext current() {
    Span span = tracer.currentSpan();
    return span == null || span.context().traceId().isEmpty() ? null : span.context();
  }

  @Override
  public void waiting(String lock, boolean behindOwn) {
    looks.begin(lock);
  }

  @Override
  public void waitingEnded(String lock, Duration waited) {
    looks.end(lock);
  }

  @Override
  public void acquired(String lock, long token, Duration waited, boolean passed) {
    TraceContext parent = current();
    if (parent == null) {
      return;
    }
    Hold hold = new Hold(lock, token);
    if (holds.size() < MOST_HOLDS) { // first: it may be lost while its wait is written
      holds.put(hold, new Held(parent, nanos.getAsLong()));
      endIfLost(hold);
    }
    wait(lock, parent, waited, passed ? "passed" : "granted");
  }

  @Override
  public void notAcquired(String lock, Duration waited) {
    TraceContext parent = current();
    if (parent != null) {
      wait(lock, parent, waited, "refused");
    }
  }

  private void wait(String lock, TraceContext parent, Duration waited, String outcome) {
    if (waited.compareTo(SHORTEST_WAIT) < 0) {
      return;
    }
    Span.Builder span = begun("pawl.lock.wait", lock, parent, waited).tag("outcome", outcome);
    for (TraceNote holder : holdersSeen(lock, waited)) {
      if (!holder.spanId().equals(parent.spanId())) { // granted as it was looked for
        span.addLink(new Link(holder.in(tracer)));
      }
    }
    span.start().end();
  }

  /** The traces that have been seen to hold the lock within the last {@code length}. */
  List<TraceNote> holdersSeen(String lock, Duration length) {
    return looks.seen(lock, length);
  }

  @Override
  public void released(String lock, long token, Duration held) {
    Held known = holds.remove(new Hold(lock, token));
    if (known != null) {
      begun("pawl.lock.hold", lock, known.parent, held).tag("outcome", "released").start().end();
    }
  }

  @Override
  public void lost(String lock, long token, String why) {
    Hold hold = new Hold(lock, token);
    if (!end(hold, why)) {
      early.put(hold, why);
      if (holds.containsKey(hold)) { // granted meanwhile
        endIfLost(hold);
      }
    }
  }

  private void endIfLost(Hold hold) {
    String why = early.remove(hold);
    if (why != null) {
      end(hold, why);
    }
  }

  private boolean end(Hold hold, String why) {
    Held known = holds.remove(hold);
    if (known != null) {
      Duration held = Duration.ofNanos(nanos.getAsLong() - known.since);
      begun("pawl.lock.hold", hold.lock, known.parent, held)
          .tag("outcome", "lost")
          .tag("reason", LossReason.of(why).tag())
          .start()
          .end();
    }
    return known != null;
  }

  /** One that has lasted for {@code length} already. */
  private Span.Builder begun(String name, String lock, TraceContext parent, Duration length) {
    Instant start = Instant.now().minus(length);
    long micros = TimeUnit.SECONDS.toMicros(start.getEpochSecond()) + start.getNano() / 1_000;
    return tracer
        .spanBuilder()
        .name(name)
        .setParent(parent)
        .startTimestamp(micros, TimeUnit.MICROSECONDS)
        .tag("group", group(lock));
  }

  private String group(String lock) {
    String group = groups.groupOf(lock);
    return group.isBlank() ? LockMeters.OTHER : group;
  }

  /** Of the leases of this client: exact, where the store shows the first of a run. */
  private List<TraceNote> ownHolders(String lock) {
    List<TraceNote> ours = new ArrayList<>();
    holds.forEach(
        (hold, held) -> {
          TraceNote trace = hold.lock.equals(lock) ? TraceNote.of(held.parent) : null;
          if (trace != null && ours.size() < HolderLooks.MOST_HOLDERS) {
            ours.add(trace);
          }
        });
    return ours;
  }
}
