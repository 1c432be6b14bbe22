package io.pawl.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.rule.GrantRule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The names of nodes. The package's description says what they are. */
final class Nodes {

  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  private static final Pattern PLACE =
      Pattern.compile("(w|r|p(\\d{1,10}))(k?)-([A-Za-z0-9_-]+\\.\\d+)-([0-9a-f]{1,16})-(\\d{10})");

  /** Numbers of nodes are 31 bits. */
  static final int LAST_NUMBER = Integer.MAX_VALUE - (1 << 20);

  private final String locks;

  Nodes(String base) {
    this.locks = base + "/locks";
  }

  /** The parent of all locks. */
  String locks() {
    return locks;
  }

  String lock(String name) {
    return locks + "/" + encoded(name);
  }

  /** Everything but letters, digits, {@code _} and {@code -} as %XX: readable, and never a path. */
  static String encoded(String name) {
    StringBuilder text = new StringBuilder();
    for (byte each : name.getBytes(UTF_8)) {
      char c = (char) (each & 0xFF);
      if (c < 0x80 && (Character.isLetterOrDigit(c) || c == '_' || c == '-')) {
        text.append(c);
      } else {
        text.append('%').append(HEX[c >> 4]).append(HEX[c & 0xF]);
      }
    }
    return text.toString();
  }

  /** The lock of an encoded name; null if nobody can have encoded it. */
  static @Nullable String decoded(String encoded) {
    byte[] bytes = new byte[encoded.length()];
    int length = 0;
    for (int i = 0; i < encoded.length(); i++) {
      char c = encoded.charAt(i);
      if (c != '%') {
        bytes[length++] = (byte) c;
      } else {
        if (i + 2 >= encoded.length()) {
          return null;
        }
        int high = Character.digit(encoded.charAt(i + 1), 16);
        int low = Character.digit(encoded.charAt(i + 2), 16);
        if (high < 0 || low < 0) {
          return null;
        }
        bytes[length++] = (byte) (high << 4 | low);
        i += 2;
      }
    }
    String name = new String(bytes, 0, length, UTF_8);
    return encoded(name).equals(encoded) ? name : null;
  }

  /** The name of a claim's node in a session, to which the service appends its number. */
  static String place(Claim claim, long session) {
    String mode =
        claim.mode() instanceof Mode.Permits permits
            ? "p" + permits.wanted()
            : claim.mode() instanceof Mode.Shared ? "r" : "w";
    return mode + (isKept(claim) ? "k-" : "-") + owner(claim.id(), session) + "-";
  }

  /** Whether a claim's node outlives its session, for the sake of its shortest hold. */
  static boolean isKept(Claim claim) {
    return !claim.minHold().isZero();
  }

  /** The name of the node that says that the client of a kept node lives, in the same session. */
  static String sign(ClaimId id, long session) {
    return "a-" + owner(id, session);
  }

  /** A claim that comes back in a new session is not what it was in an older one. */
  private static String owner(ClaimId id, long session) {
    return id + "-" + Long.toHexString(session);
  }

  /**
   * What the name of a claim's node says.
   *
   * @param units how much of a lock it wants, as in {@link GrantRule}, unless it was downgraded
   * @param session the session in which it was made
   */
  record Place(String name, long units, boolean kept, ClaimId id, long session, int number) {
    static final Comparator<Place> FIRST_TO_LAST = Comparator.comparingInt(Place::number);

    /** What it asked for. */
    Mode mode() {
      return switch (name.charAt(0)) {
        case 'w' -> Mode.EXCLUSIVE;
        case 'r' -> Mode.SHARED;
        default -> new Mode.Permits((int) units, (int) units); // of how many it does not say
      };
    }

    /** The name of the sign of a kept one. */
    String sign() {
      return Nodes.sign(id, session);
    }
  }

  /** The claims among the children of a lock, the first in the queue first. */
  static List<Place> places(@Nullable List<String> names) {
    List<Place> places = new ArrayList<>();
    for (String name : names == null ? List.<String>of() : names) {
      Place place = parse(name);
      if (place != null) {
        places.add(place);
      }
    }
    places.sort(Place.FIRST_TO_LAST);
    return places;
  }

  /** Null for nodes that are no claim's. */
  static @Nullable Place parse(String name) {
    Matcher place = PLACE.matcher(name);
    if (!place.matches()) {
      return null;
    }
    try {
      String mode = place.group(1);
      long units =
          mode.equals("w")
              ? GrantRule.ALL_OF_A_LOCK
              : mode.equals("r") ? 1 : Integer.parseInt(place.group(2));
      if (units < 1) {
        return null;
      }
      boolean kept = !place.group(3).isEmpty();
      ClaimId id = ClaimId.parse(place.group(4));
      long session = Long.parseUnsignedLong(place.group(5), 16);
      return new Place(name, units, kept, id, session, Integer.parseInt(place.group(6)));
    } catch (IllegalArgumentException nobodysName) {
      return null;
    }
  }

  /** How much of a lock a claim of {@code mode} wants, as in {@link GrantRule}. */
  static long units(Mode mode) {
    if (mode instanceof Mode.Permits permits) {
      return permits.wanted();
    }
    return mode instanceof Mode.Shared ? 1 : GrantRule.ALL_OF_A_LOCK;
  }
}
