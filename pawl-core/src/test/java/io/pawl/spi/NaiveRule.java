package io.pawl.spi;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The grant rule as one would write it without a thought of speed, to compare with. */
final class NaiveRule {

  /** One claim: {@code token} is 0 while it waits. */
  record Entry(Claim claim, long until, long token, long lastToken) {

    ClaimId id() {
      return claim.id();
    }

    Mode mode() {
      return claim.mode();
    }

    Entry shared() {
      return new Entry(claim.as(Mode.SHARED), until, token, lastToken);
    }

    Entry keptBy(long now) {
      long longer = Math.max(until, now + claim.leaseMillis());
      return new Entry(claim, longer, token, lastToken);
    }
  }

  private record Withdrawn(ClaimId id, long until) {}

  final List<Entry> holders = new ArrayList<>();
  final List<Entry> waiters = new ArrayList<>();
  private final List<Withdrawn> withdrawn = new ArrayList<>();
  long lastToken;

  /** 0 for a lock, -1 for what has never been used. */
  int capacity = -1;

  /** Whether they may hold together; with permits of a semaphore of {@code capacity}. */
  static boolean compatible(List<Mode> modes, int capacity) {
    if (modes.size() < 2 || Set.copyOf(modes).equals(Set.of(Mode.SHARED))) {
      return true;
    }
    int wanted = 0;
    for (Mode mode : modes) {
      if (!(mode instanceof Mode.Permits permits)) {
        return false;
      }
      wanted += permits.wanted();
    }
    return wanted <= capacity;
  }

  Class<? extends Standing> attempt(Claim claim, long now) {
    Class<? extends Standing> known = renew(claim.id(), now);
    if (known == Standing.Held.class && claim.mode() == Mode.SHARED) {
      holders.replaceAll(
          entry ->
              entry.id().equals(claim.id()) && entry.mode() == Mode.EXCLUSIVE
                  ? entry.shared()
                  : entry);
      settle(now);
    }
    if (known != Standing.Gone.class || isWithdrawn(claim.id())) {
      return known;
    }
    if (capacity >= 0 && capacity != claim.mode().capacity()) {
      return Standing.OtherKind.class;
    }
    capacity = claim.mode().capacity();
    waiters.add(new Entry(claim, now + claim.leaseMillis(), 0, 0));
    settle(now);
    if (holders.stream().anyMatch(entry -> entry.id().equals(claim.id()))) {
      return Standing.Held.class;
    }
    if (claim.queues()) {
      return Standing.Waiting.class;
    }
    waiters.removeIf(entry -> entry.id().equals(claim.id()));
    return Standing.Gone.class;
  }

  Class<? extends Standing> renew(ClaimId id, long now) {
    settle(now);
    holders.replaceAll(entry -> entry.id().equals(id) ? entry.keptBy(now) : entry);
    waiters.replaceAll(entry -> entry.id().equals(id) ? entry.keptBy(now) : entry);
    if (holders.stream().anyMatch(entry -> entry.id().equals(id))) {
      return Standing.Held.class;
    }
    return waiters.stream().anyMatch(entry -> entry.id().equals(id))
        ? Standing.Waiting.class
        : Standing.Gone.class;
  }

  void withdraw(Claim claim, long now) {
    settle(now);
    holders.removeIf(entry -> entry.id().equals(claim.id()));
    waiters.removeIf(entry -> entry.id().equals(claim.id()));
    if (claim.unsettled()) {
      withdrawn.removeIf(one -> one.id().equals(claim.id()));
      withdrawn.add(new Withdrawn(claim.id(), now + Math.max(60_000, claim.leaseMillis())));
    }
    settle(now);
  }

  boolean evict(long token, long now) {
    settle(now);
    boolean any = holders.removeIf(entry -> entry.token() <= token && token <= entry.lastToken());
    settle(now);
    return any;
  }

  boolean setCapacity(int wanted, long now) {
    settle(now);
    boolean inUse = !holders.isEmpty() || !waiters.isEmpty();
    if (inUse && (wanted == 0) != (capacity == 0)) {
      return false;
    }
    capacity = wanted;
    waiters.removeIf(
        entry -> entry.mode() instanceof Mode.Permits permits && permits.wanted() > capacity);
    settle(now);
    return true;
  }

  boolean isWithdrawn(ClaimId id) {
    return withdrawn.stream().anyMatch(one -> one.id().equals(id));
  }

  private void settle(long now) {
    holders.removeIf(entry -> entry.until() <= now);
    waiters.removeIf(entry -> entry.until() <= now);
    withdrawn.removeIf(one -> one.until() <= now);
    while (!waiters.isEmpty() && fitsBesideHolders(waiters.get(0).mode())) {
      Entry head = waiters.remove(0);
      long first = Math.max(lastToken, head.claim().tokenFloor()) + 1;
      lastToken = first + head.claim().tokens() - 1;
      holders.add(new Entry(head.claim(), head.until(), first, lastToken));
    }
  }

  private boolean fitsBesideHolders(Mode mode) {
    List<Mode> modes = new ArrayList<>();
    holders.forEach(entry -> modes.add(entry.mode()));
    modes.add(mode);
    return compatible(modes, capacity);
  }
}
