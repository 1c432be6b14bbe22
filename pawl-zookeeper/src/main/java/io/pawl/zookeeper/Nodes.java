package io.pawl.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.rule.GrantRule;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** The names of nodes. The package's description says what they are. */
final class Nodes {

  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  /** Digits of the number that the service appends to a name. */
  private static final int NUMBER_DIGITS = 10;

  private static final int MOST_DIGITS = 19;
  private static final int MOST_SESSION = 16;
  private static final int MOST_CLIENT = 64;
  private static final String SIGN = "a-";

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
    return SIGN + owner(id, session);
  }

  /** A claim that comes back in a new session is not what it was in an older one. */
  private static String owner(ClaimId id, long session) {
    return id + "-" + Long.toHexString(session);
  }

  /**
   * What the name of a claim's node says. Names are read by the thousand where many wait, so only
   * what says the order is kept apart.
   *
   * @param units how much of a lock it wants, as in {@link GrantRule}, unless it was downgraded
   * @param owner where in the name the claim's id begins, and the session in which it was made
   */
  record Place(String name, long units, boolean kept, int owner, int number) {
    static final Comparator<Place> FIRST_TO_LAST = Comparator.comparingInt(Place::number);

    /** What it asked for. */
    Mode mode() {
      return switch (name.charAt(0)) {
        case 'w' -> Mode.EXCLUSIVE;
        case 'r' -> Mode.SHARED;
        default -> new Mode.Permits((int) units, (int) units); // of how many it does not say
      };
    }

    private String ownerText() {
      return name.substring(owner, name.length() - NUMBER_DIGITS - 1);
    }

    ClaimId id() {
      String text = ownerText();
      return ClaimId.parse(text.substring(0, text.lastIndexOf('-')));
    }

    /** Whether it is the claim's, in whatever session. */
    boolean isOf(ClaimId id) {
      return name.startsWith(id + "-", owner);
    }

    /** Whether it is the claim's in this session. */
    boolean isOf(ClaimId id, long session) {
      return ownerText().equals(Nodes.owner(id, session));
    }

    /** Whether it is a claim of this client. */
    boolean isOfClient(String client) {
      return name.startsWith(client, owner) && name.charAt(owner + client.length()) == '.';
    }

    /** The name of the sign of a kept one. */
    String sign() {
      return SIGN + ownerText();
    }
  }

  /**
   * The claims of a lock as the service listed them at one moment. Immutable, so that those who
   * asked at the same time share it.
   *
   * @param places the first in the queue first
   * @param signs the names of the signs of kept ones
   * @param lock what the service said of the lock's node
   */
  record Queue(List<Place> places, Set<String> signs, Stat lock) {

    static Queue of(List<String> names, Stat lock) {
      Set<String> signs = new HashSet<>();
      for (String name : names) {
        if (name.startsWith(SIGN)) {
          signs.add(name);
        }
      }
      return new Queue(List.copyOf(Nodes.places(names)), Set.copyOf(signs), lock);
    }

    /** How many stand before the node of this name; negative if it is not there. */
    int before(String name) {
      int number = Nodes.number(name);
      int from = 0;
      int to = places.size();
      while (from < to) {
        int middle = (from + to) >>> 1;
        if (places.get(middle).number() < number) {
          from = middle + 1;
        } else {
          to = middle;
        }
      }
      int before = from;
      while (from < places.size() && places.get(from).number() == number) {
        if (places.get(from++).name().equals(name)) { // others wrote what has the same number
          return before;
        }
      }
      return -1;
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
    int number = number(name);
    int dash = name.indexOf('-');
    if (number < 0 || dash < 1) {
      return null;
    }
    boolean kept = name.charAt(dash - 1) == 'k';
    long units = units(name, kept ? dash - 1 : dash);
    int end = name.length() - NUMBER_DIGITS - 1;
    int session = name.lastIndexOf('-', end - 1);
    boolean valid = units > 0 && isId(name, dash + 1, session) && isSession(name, session + 1, end);
    return valid ? new Place(name, units, kept, dash + 1, number) : null;
  }

  /** The number at the end of a name; negative if there is none. */
  private static int number(String name) {
    int from = name.length() - NUMBER_DIGITS;
    if (from < 1 || name.charAt(from - 1) != '-') {
      return -1;
    }
    long number = digits(name, from, name.length());
    return number > Integer.MAX_VALUE ? -1 : (int) number;
  }

  /** What is written in 1 to 19 digits; negative if that is too large, or is something else. */
  private static long digits(String name, int from, int to) {
    if (from >= to || to - from > MOST_DIGITS) {
      return -1;
    }
    long value = 0;
    for (int i = from; i < to; i++) {
      int digit = name.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = value * 10 + digit; // 19 digits that are too many turn negative
    }
    return value;
  }

  /** What the mode at the beginning of a name wants; not positive if it is none. */
  private static long units(String name, int end) {
    char mode = name.charAt(0);
    if (mode == 'p') {
      long permits = end > NUMBER_DIGITS + 1 ? -1 : digits(name, 1, end);
      return permits > Integer.MAX_VALUE ? -1 : permits;
    }
    if (end != 1) {
      return -1;
    }
    return mode == 'w' ? GrantRule.ALL_OF_A_LOCK : mode == 'r' ? 1 : -1;
  }

  /** Whether a {@link ClaimId} stands there. */
  private static boolean isId(String name, int from, int to) {
    int dot = name.indexOf('.', from);
    boolean valid = dot > from && dot - from <= MOST_CLIENT && digits(name, dot + 1, to) >= 0;
    for (int i = from; valid && i < dot; i++) {
      char c = name.charAt(i);
      valid = c == '_' || c == '-' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
    }
    return valid;
  }

  /** Whether a session in hexadecimal digits stands there. */
  private static boolean isSession(String name, int from, int to) {
    boolean valid = to > from && to - from <= MOST_SESSION;
    for (int i = from; valid && i < to; i++) {
      char c = name.charAt(i);
      valid = isDigit(c) || c >= 'a' && c <= 'f';
    }
    return valid;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  /** How much of a lock a claim of {@code mode} wants, as in {@link GrantRule}. */
  static long units(Mode mode) {
    if (mode instanceof Mode.Permits permits) {
      return permits.wanted();
    }
    return mode instanceof Mode.Shared ? 1 : GrantRule.ALL_OF_A_LOCK;
  }
}
