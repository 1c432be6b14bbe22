package io.pawl.spi.rule;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The grant rule as one would write it without a thought of speed, to compare with. */
final class NaiveRule {

  /**
   * One claim: {@code token} is 0 while it waits.
   *
   * @param owedUntil how long a hold lasts at least, from its grant on
   * @param heard whether it was heard of since its grant
   * @param withdrawn a hold that is nobody's any more
   */
  record Entry(
      Claim claim,
      long until,
      long token,
      long lastToken,
      long owedUntil,
      boolean heard,
      boolean withdrawn) {

    static Entry waiting(Claim claim, long now) {
      return new Entry(claim, now + claim.leaseMillis(), 0, 0, 0, false, false);
    }

    Entry granted(long first, long last, long now) {
      return new Entry(claim, until, first, last, now + claim.minHoldMillis(), false, false);
    }

    Entry asHeard() {
      return new Entry(claim, until, token, lastToken, owedUntil, true, withdrawn);
    }

    Entry gone() {
      return new Entry(claim, owedUntil, token, lastToken, owedUntil, true, true);
    }

    /** When it ends by itself. */
    long endsAt() {
      return heard && !withdrawn ? Math.max(until, owedUntil) : until;
    }

    ClaimId id() {
      return claim.id();
    }

    Mode mode() {
      return claim.mode();
    }

    Entry shared() {
      return new Entry(claim.as(Mode.SHARED), until, token, lastToken, owedUntil, heard, withdrawn);
    }

    boolean hasLittleLeft(long now) {
      long lease = claim.leaseMillis();
      return until - now < (lease > 20_000 ? lease / 2 : lease);
    }

    Entry keptBy(long now) {
      long longer = Math.max(until, now + claim.leaseMillis());
      return new Entry(claim, longer, token, lastToken, owedUntil, true, withdrawn);
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
              entry.id().equals(claim.id()) && entry.mode() == Mode.EXCLUSIVE && !entry.withdrawn()
                  ? entry.shared()
                  : entry);
      settle(now);
    }
    if (known != Standing.Gone.class || isWithdrawn(claim.id()) || holds(claim.id())) {
      return known;
    }
    if (capacity >= 0 && capacity != claim.mode().capacity()) {
      return Standing.OtherKind.class;
    }
    capacity = claim.mode().capacity();
    waiters.add(Entry.waiting(claim, now));
    settle(now);
    if (holds(claim.id())) {
      holders.replaceAll(entry -> entry.id().equals(claim.id()) ? entry.asHeard() : entry);
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
    if (holders.stream().anyMatch(entry -> entry.id().equals(id) && entry.withdrawn())) {
      return Standing.Gone.class;
    }
    holders.replaceAll(entry -> entry.id().equals(id) ? entry.keptBy(now) : entry);
    waiters.replaceAll(
        entry -> entry.id().equals(id) && entry.hasLittleLeft(now) ? entry.keptBy(now) : entry);
    if (holds(id)) {
      return Standing.Held.class;
    }
    return waiters.stream().anyMatch(entry -> entry.id().equals(id))
        ? Standing.Waiting.class
        : Standing.Gone.class;
  }

  void withdraw(Claim claim, long now) {
    settle(now);
    if (claim.minHold().isZero()) {
      holders.removeIf(entry -> entry.id().equals(claim.id()));
    }
    holders.replaceAll(entry -> entry.id().equals(claim.id()) ? entry.gone() : entry);
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

  /** Held, or lasting though it was withdrawn. */
  private boolean holds(ClaimId id) {
    return holders.stream().anyMatch(entry -> entry.id().equals(id));
  }

  boolean isWithdrawn(ClaimId id) {
    return withdrawn.stream().anyMatch(one -> one.id().equals(id));
  }

  private void settle(long now) {
    holders.removeIf(entry -> entry.endsAt() <= now);
    waiters.removeIf(entry -> entry.until() <= now);
    withdrawn.removeIf(one -> one.until() <= now);
    while (!waiters.isEmpty() && fitsBesideHolders(waiters.get(0).mode())) {
      Entry head = waiters.remove(0);
      long first = Math.max(lastToken, head.claim().tokenFloor()) + 1;
      lastToken = first + head.claim().tokens() - 1;
      holders.add(head.granted(first, lastToken, now));
    }
  }

  private boolean fitsBesideHolders(Mode mode) {
    List<Mode> modes = new ArrayList<>();
    holders.forEach(entry -> modes.add(entry.mode()));
    modes.add(mode);
    return compatible(modes, capacity);
  }
}
