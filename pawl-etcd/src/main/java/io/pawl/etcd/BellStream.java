package io.pawl.etcd;

import io.pawl.etcd.gateway.WatchStream;
import io.pawl.etcd.gateway.WatchStream.Event;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Watches of some locks, or, if it is wide, of all locks of the namespace. What it hears goes to
 * {@link Bells}, whose mutex guards its fields.
 */
final class BellStream implements WatchStream.Listener {

  private static final int MOST_RECENT = 4_096;

  private final Bells bells;
  private final Keys keys;
  final List<String> names;
  final boolean wide;
  final long openedAt = System.nanoTime();
  @Nullable WatchStream opened;
  boolean complete;

  /** What a wide stream has told of locks of late, and the latest that is forgotten. */
  private final Map<String, Long> recent = new LinkedHashMap<>();

  long forgotten;

  BellStream(Bells bells, Keys keys, List<String> names, boolean wide) {
    this.bells = bells;
    this.keys = keys;
    this.names = names;
    this.wide = wide;
  }

  /** The lock that an event concerns; null for a key that is nobody's. */
  @Nullable String lockOf(Event event) {
    if (!wide) {
      return names.get(event.watch() / 2);
    }
    return event.watch() == 0 ? keys.lockOf(event.key()) : keys.lockOfKind(event.key());
  }

  void tells(String lock, long revision) {
    recent.remove(lock);
    recent.put(lock, revision);
    if (recent.size() > MOST_RECENT) {
      Iterator<Map.Entry<String, Long>> eldest = recent.entrySet().iterator();
      forgotten = Math.max(forgotten, eldest.next().getValue());
      eldest.remove();
    }
  }

  long toldOf(String lock) {
    return recent.getOrDefault(lock, forgotten);
  }

  @Override
  public void started() {
    bells.started(this);
  }

  @Override
  public void happened(List<Event> events) {
    bells.happened(this, events);
  }

  @Override
  public void ended(int watch) {
    bells.ended(this, wide ? null : names.get(watch / 2));
  }

  @Override
  public void broken() {
    bells.ended(this, null);
  }

  void close() {
    WatchStream stream = opened;
    if (stream != null) {
      stream.close();
    }
  }
}
