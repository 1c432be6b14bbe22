package io.pawl.spi.rule;

import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LedgerEntry.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * What {@link CounterRule} needs to know of one counter: its value and bounds, and from its ledger
 * the entries that a request names and the reservations that are due. A store may supply more
 * entries, even all. {@link CounterRule} alone changes it. Times are milliseconds since 1970 on the
 * store's clock. Not thread-safe.
 */
public final class CounterState {

  /** An open reservation, in the order of deadlines. */
  private record Open(long until, String id) implements Comparable<Open> {
    @Override
    public int compareTo(Open other) {
      int byDeadline = Long.compare(until, other.until);
      return byDeadline != 0 ? byDeadline : id.compareTo(other.id);
    }
  }

  final String name;
  long value;
  long floor;
  long ceiling;
  long reserved;
  private long forgotten;
  private long keptFromMillis;
  private final LinkedHashMap<String, LedgerEntry> ledger = new LinkedHashMap<>();
  private final TreeSet<Open> open = new TreeSet<>();
  private LinkedHashMap<String, LedgerEntry> changed = new LinkedHashMap<>();
  private List<LedgerEntry> forgottenEntries = new ArrayList<>();

  /** Makes a counter as it was stored, or {@link CounterView#unknown}. */
  public CounterState(CounterView view, Collection<LedgerEntry> entries) {
    this.name = view.name();
    this.value = view.value();
    this.floor = view.floor();
    this.ceiling = view.ceiling();
    this.reserved = view.reserved();
    this.forgotten = view.forgotten();
    this.keptFromMillis = view.keptFromMillis();
    entries.forEach(this::know);
  }

  public CounterView view() {
    return new CounterView(name, value, floor, ceiling, reserved, forgotten, keptFromMillis);
  }

  /** Returns the known entries, in the order in which they became known. */
  public Collection<LedgerEntry> entries() {
    return ledger.values();
  }

  /** Returns the entries that were added or changed since the last call, in order. */
  public List<LedgerEntry> takeChanges() {
    List<LedgerEntry> taken = List.copyOf(changed.values());
    changed = new LinkedHashMap<>();
    return taken;
  }

  /** Returns the entries that were forgotten since the last call. */
  public List<LedgerEntry> takeForgotten() {
    List<LedgerEntry> taken = forgottenEntries;
    forgottenEntries = new ArrayList<>();
    return taken;
  }

  /**
   * Refuses operations first used before {@code beforeMillis} from now on, unless they are known.
   *
   * @throws io.pawl.error.StoreException when {@code beforeMillis} is later than {@code now}
   */
  public void keepFrom(long beforeMillis, long now) {
    CounterRule.checkPast(name, beforeMillis, now);
    keptFromMillis = Math.max(keptFromMillis, beforeMillis);
  }

  /**
   * Forgets the known entries that were first used before {@code beforeMillis}, except open
   * reservations, and refuses operations that old from now on.
   *
   * @throws io.pawl.error.StoreException when {@code beforeMillis} is later than {@code now}
   */
  public int forget(long beforeMillis, long now) {
    keepFrom(beforeMillis, now);
    List<LedgerEntry> old = new ArrayList<>();
    for (LedgerEntry entry : ledger.values()) {
      if (entry.issuedMillis() < beforeMillis && entry.status() != Status.RESERVED) {
        old.add(entry);
      }
    }
    old.forEach(this::forget);
    return old.size();
  }

  /**
   * Forgets the entries that became known first until {@code keep} are left, except open
   * reservations and entries that are not dated before {@code now}; refuses operations as old as
   * the forgotten ones from now on.
   */
  public void forgetBeyond(int keep, long now) {
    Iterator<LedgerEntry> oldest = List.copyOf(ledger.values()).iterator();
    while (ledger.size() > keep && oldest.hasNext()) {
      LedgerEntry entry = oldest.next();
      if (entry.status() != Status.RESERVED && entry.issuedMillis() < now) {
        keptFromMillis = Math.max(keptFromMillis, entry.issuedMillis() + 1);
        forget(entry);
      }
    }
  }

  private void forget(LedgerEntry entry) {
    ledger.remove(entry.id());
    changed.remove(entry.id());
    forgotten += entry.change();
    forgottenEntries.add(entry);
  }

  @Nullable LedgerEntry find(String id) {
    return ledger.get(id);
  }

  /** Whether an id that is not known may have been known once. */
  boolean mayHaveForgotten(long issuedMillis) {
    return issuedMillis < keptFromMillis;
  }

  long keptFromMillis() {
    return keptFromMillis;
  }

  /** Enters {@code entry}, or replaces the one of its id. */
  void enter(LedgerEntry entry) {
    know(entry);
    changed.put(entry.id(), entry);
  }

  /** Makes an entry known as it was stored. */
  public void know(LedgerEntry entry) {
    LedgerEntry before = ledger.put(entry.id(), entry);
    if (before != null && before.status() == Status.RESERVED) {
      open.remove(new Open(before.until(), before.id()));
    }
    if (entry.status() == Status.RESERVED) {
      open.add(new Open(entry.until(), entry.id()));
    }
  }

  /** The open reservation that was due first, if any was by {@code now}. */
  @Nullable LedgerEntry nextDue(long now) {
    return open.isEmpty() || open.first().until > now ? null : ledger.get(open.first().id);
  }
}
