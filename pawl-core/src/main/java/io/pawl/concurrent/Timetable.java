package io.pawl.concurrent;

import java.util.Arrays;

/**
 * Entries by when each is due: the first is at hand, and any may be added, moved or taken out in a
 * number of steps that grows with the logarithm of their number. A heap in which each node has four
 * children, and whose times stand in an array of their own, so that of a million entries none has
 * to be looked at to find its place. Not thread-safe.
 *
 * <p>Times are those of {@link Time#nanos}, less than 146 years apart.
 *
 * @param <E> an entry is in no more than one timetable
 */
public final class Timetable<E extends Timetable.Entry> {

  /** What can stand in a timetable. */
  public abstract static class Entry {
    int place = NOWHERE;
  }

  private static final int NOWHERE = -1;
  private static final int CHILDREN = 4;
  private static final int LEAST_ROOM = 64;

  private Entry[] entries = new Entry[LEAST_ROOM];
  private long[] times = new long[LEAST_ROOM];
  private int size;

  public boolean isEmpty() {
    return size == 0;
  }

  /** When the first entry is due; there has to be one. */
  public long firstDue() {
    if (isEmpty()) {
      throw new IllegalStateException("nothing is due");
    }
    return times[0];
  }

  /** The entry that is due first; there has to be one. */
  @SuppressWarnings("unchecked") // by add
  public E first() {
    if (isEmpty()) {
      throw new IllegalStateException("nothing is due");
    }
    return (E) entries[0];
  }

  /** Takes out the entry that is due first; there has to be one. */
  public E removeFirst() {
    E first = first();
    remove(first);
    return first;
  }

  /**
   * Adds {@code entry}.
   *
   * @throws IllegalArgumentException when it is in a timetable already
   */
  public void add(E entry, long due) {
    if (entry.place != NOWHERE) {
      throw new IllegalArgumentException("an entry can be in one timetable only: " + entry);
    }
    if (size == entries.length) {
      resize(2 * size);
    }
    rise(size++, entry, due);
  }

  /** Takes {@code entry} out, which may be in this timetable or in none; false for the latter. */
  public boolean remove(E entry) {
    int place = entry.place;
    if (place == NOWHERE) {
      return false;
    }
    entry.place = NOWHERE;
    Entry last = entries[--size];
    long due = times[size];
    entries[size] = null;
    if (place < size) {
      if (place > 0 && due - times[parent(place)] < 0) {
        rise(place, last, due);
      } else {
        sink(place, last, due);
      }
    }
    if (size < entries.length / CHILDREN && entries.length > LEAST_ROOM) {
      resize(entries.length / 2);
    }
    return true;
  }

  /** Takes all entries out. */
  public void clear() {
    for (int i = 0; i < size; i++) {
      entries[i].place = NOWHERE;
    }
    size = 0;
    entries = new Entry[LEAST_ROOM];
    times = new long[LEAST_ROOM];
  }

  private void resize(int room) {
    Entry[] moved = Arrays.copyOf(entries, room);
    times = Arrays.copyOf(times, room);
    entries = moved;
  }

  private static int parent(int place) {
    return (place - 1) / CHILDREN;
  }

  private void rise(int from, Entry entry, long due) {
    int place = from;
    while (place > 0 && due - times[parent(place)] < 0) {
      int parent = parent(place);
      put(place, entries[parent], times[parent]);
      place = parent;
    }
    put(place, entry, due);
  }

  private void sink(int from, Entry entry, long due) {
    int place = from;
    int child = firstChild(place);
    while (child < size && times[child] - due < 0) {
      put(place, entries[child], times[child]);
      place = child;
      child = firstChild(place);
    }
    put(place, entry, due);
  }

  /** The child of {@code place} that is due first; beyond all where it has none. */
  private int firstChild(int place) {
    int first = CHILDREN * place + 1;
    for (int i = first + 1; i < Math.min(size, CHILDREN * place + 1 + CHILDREN); i++) {
      if (times[i] - times[first] < 0) {
        first = i;
      }
    }
    return first;
  }

  private void put(int place, Entry entry, long due) {
    entries[place] = entry;
    times[place] = due;
    entry.place = place;
  }
}
