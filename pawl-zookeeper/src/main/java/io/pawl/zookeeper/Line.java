package io.pawl.zookeeper;

import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.zookeeper.Nodes.Place;
import io.pawl.zookeeper.Nodes.Queue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What stands before a claim in the queue, nearest first, as far as it is known: it was listed when
 * the claim joined, and only shrinks. The claim is held once what is left of it leaves room, and
 * until then enough of it is watched that no room can come without a sign. For a lock this is the
 * nearest claim that excludes ours, for permits the nearest claims that want as many permits
 * together as ours must wait for: at most as many as the semaphore has.
 *
 * <p>Only the nearest are remembered, these and a few more, so that thousands of waiters do not
 * remember each other. Once those might leave room the queue has to be listed anew ({@link
 * #isShort}) for whoever stands before them.
 *
 * <p>Guarded by the mutex of its claim.
 */
final class Line {

  /** A claim before ours. */
  static final class Before {
    final Place place;
    private final String lockPath;
    private long units;
    private boolean there;
    private int signs;

    Before(Place place, String lockPath) {
      this.place = place;
      this.lockPath = lockPath;
      this.units = place.units();
    }

    String path() {
      return lockPath + "/" + place.name();
    }

    /** How often something was heard of it. */
    int signs() {
      return signs;
    }
  }

  /** How many are remembered beyond what keeps ours out. */
  private static final int SPARE = 4;

  private final Mode mode;
  private final String lockPath;
  private final int ahead;
  private final List<Before> before = new ArrayList<>();
  private long room;

  /** Others stood before those that are remembered. */
  private boolean more;

  /**
   * @param first the claims before ours, the first in the queue first
   * @param ahead how many are watched beyond what keeps ours out
   */
  Line(Mode mode, Kind kind, List<Place> first, String lockPath, int ahead) {
    this.mode = mode;
    this.lockPath = lockPath;
    this.ahead = ahead;
    setKind(kind);
    fill(first);
  }

  /** Remembers the nearest of those that are there. */
  private void fill(List<Place> first) {
    Map<String, Before> known = new HashMap<>();
    before.forEach(each -> known.put(each.place.name(), each));
    before.clear();
    more = false;
    long used = 0;
    int spare = SPARE + ahead;
    for (int i = first.size() - 1; i >= 0 && !more; i--) {
      Place place = first.get(i);
      Before each = known.getOrDefault(place.name(), new Before(place, lockPath));
      if (!blocks(each)) {
        continue;
      }
      if (used > room && spare-- <= 0) {
        more = true;
      } else {
        before.add(each);
        used += each.units;
      }
    }
  }

  /** A semaphore's permits may become more or fewer while claims wait. */
  void setKind(Kind kind) {
    room = mode instanceof Mode.Permits permits ? kind.capacity() - permits.wanted() : 0;
  }

  private boolean blocks(Before each) {
    return !(mode instanceof Mode.Shared && each.units == 1);
  }

  /** Whether the claims that may still stand before ours leave room for it. */
  boolean isFree() {
    return !more && leavesRoom();
  }

  /** Whether those before the ones that are remembered have to be listed. */
  boolean isShort() {
    return more && leavesRoom();
  }

  private boolean leavesRoom() {
    long used = 0;
    for (Before each : before) {
      used += each.units;
      if (used > room) {
        return false;
      }
    }
    return used <= room; // there may be fewer permits than it wants
  }

  /** Whether it can only wait for a sign. */
  boolean isSettled() {
    return !isFree() && !isShort() && next(1).isEmpty();
  }

  /** The next ones to look at, {@code most} of them; none if that cannot change anything. */
  List<Before> next(int most) {
    List<Before> unknown = new ArrayList<>();
    if (isFree()) {
      return unknown;
    }
    long watched = 0;
    int further = ahead;
    for (Before each : before) {
      if (unknown.size() >= most || (watched > room && further-- <= 0)) {
        break;
      }
      if (!each.there) {
        unknown.add(each);
      }
      watched += each.units;
    }
    return unknown;
  }

  /**
   * It was there, with {@code units}, when it was looked at, and is watched since: unless a sign of
   * it came meanwhile, which used the watch up.
   */
  void isThere(Before each, long units, int signs) {
    each.there = each.signs == signs;
    each.units = units;
    if (!blocks(each)) {
      before.remove(each);
    }
  }

  /** It is not there any more; nor does it ever come back. */
  void isGone(Before each) {
    before.remove(each);
  }

  /** It has to be looked at again. */
  void isDoubtful(Before each) {
    each.signs++;
    each.there = false;
  }

  /** All of it has to be looked at again, should a sign have been lost. */
  void isDoubtful() {
    before.forEach(each -> each.there = false);
  }

  /**
   * None but those listed are there; one without its sign has to be looked at again.
   *
   * @param first how many of the queue stand before ours
   */
  void isListed(Queue queue, int first) {
    fill(queue.places().subList(0, first));
    for (Before each : before) {
      if (each.place.kept() && !queue.signs().contains(each.place.sign())) {
        each.there = false;
      }
    }
  }

  /** How many are remembered. */
  int remembered() {
    return before.size();
  }

  /** How many were there when they were looked at, and are watched. */
  int watched() {
    return (int) before.stream().filter(each -> each.there).count();
  }
}
