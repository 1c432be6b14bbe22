package io.pawl.zookeeper;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What is to be looked at, and when, so that nothing is gone through before its time. Each item has
 * one time. Thread-safe; its mutex is taken last.
 */
final class Agenda<T extends Object> {

  private record Entry<T>(long atNanos, long number, T item) implements Comparable<Entry<T>> {
    @Override
    public int compareTo(Entry<T> other) {
      int byTime = Long.compare(atNanos - other.atNanos, 0);
      return byTime != 0 ? byTime : Long.compare(number, other.number);
    }
  }

  private final ReentrantLock mutex = new ReentrantLock();
  private final TreeSet<Entry<T>> entries = new TreeSet<>();
  private final Map<T, Entry<T>> byItem = new HashMap<>();
  private long number;

  /** {@code item} is due at {@code atNanos} of {@link System#nanoTime}, and not before. */
  void set(T item, long atNanos) {
    mutex.lock();
    try {
      Entry<T> entry = new Entry<>(atNanos, number++, item);
      entries.add(entry);
      Entry<T> before = byItem.put(item, entry);
      if (before != null) {
        entries.remove(before);
      }
    } finally {
      mutex.unlock();
    }
  }

  void remove(T item) {
    mutex.lock();
    try {
      Entry<T> entry = byItem.remove(item);
      if (entry != null) {
        entries.remove(entry);
      }
    } finally {
      mutex.unlock();
    }
  }

  /** Takes out whatever is due. */
  List<T> due(long now) {
    List<T> due = new ArrayList<>();
    mutex.lock();
    try {
      while (!entries.isEmpty() && entries.first().atNanos() - now <= 0) {
        T item = entries.first().item();
        entries.pollFirst();
        byItem.remove(item);
        due.add(item);
      }
    } finally {
      mutex.unlock();
    }
    return due;
  }
}
