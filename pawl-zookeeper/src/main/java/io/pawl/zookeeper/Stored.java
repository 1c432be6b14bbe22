package io.pawl.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.error.StoreException;
import io.pawl.spi.Claim;
import io.pawl.spi.Holder;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.rule.GrantRule;
import io.pawl.zookeeper.Nodes.Place;
import java.util.HashMap;
import java.util.Map;

/**
 * What the node of a claim says, as lines of {@code name=value}.
 *
 * @param holdMillis the shortest hold
 * @param granted a kept node whose grant its client has heard of; and any that held when the
 *     permits became fewer
 */
record Stored(
    Mode mode, long leaseMillis, long holdMillis, int tokens, boolean granted, Holder holder) {

  private static final Holder NOBODY = new Holder("", 0, "", "", "");
  private static final long LONGEST_MILLIS = Claim.MAX_LEASE.toMillis();

  static Stored of(Claim claim, Mode mode, boolean granted) {
    return new Stored(
        mode, claim.leaseMillis(), claim.minHoldMillis(), claim.tokens(), granted, claim.holder());
  }

  Stored asGranted() {
    return new Stored(mode, leaseMillis, holdMillis, tokens, true, holder);
  }

  byte[] bytes() {
    StringBuilder text = new StringBuilder();
    line(text, "mode", mode.toString());
    line(text, "leaseMillis", Long.toString(leaseMillis));
    line(text, "minHoldMillis", Long.toString(holdMillis));
    line(text, "tokens", Integer.toString(tokens));
    line(text, "granted", Boolean.toString(granted));
    line(text, "host", holder.host());
    line(text, "pid", Long.toString(holder.pid()));
    line(text, "thread", holder.thread());
    line(text, "application", holder.application());
    line(text, "note", holder.note());
    return text.toString().getBytes(UTF_8);
  }

  /** A holder's fields have no control characters, so no value has a line's end in it. */
  private static void line(StringBuilder text, String name, String value) {
    text.append(name).append('=').append(value).append('\n');
  }

  /**
   * @throws StoreException if somebody else wrote it
   */
  static Stored parse(String path, byte[] data) {
    Map<String, String> lines = new HashMap<>();
    for (String line : new String(data, UTF_8).split("\n", -1)) {
      int equals = line.indexOf('=');
      if (equals > 0) {
        lines.put(line.substring(0, equals), line.substring(equals + 1));
      }
    }
    try {
      return checked(lines);
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          "node " + path + " is no claim of Pawl's: " + e.getMessage() + "; delete it", e);
    }
  }

  private static Stored checked(Map<String, String> lines) {
    Stored stored =
        new Stored(
            Mode.parse(lines.getOrDefault("mode", "")),
            Long.parseLong(lines.getOrDefault("leaseMillis", "")),
            Long.parseLong(lines.getOrDefault("minHoldMillis", "0")),
            Integer.parseInt(lines.getOrDefault("tokens", "1")),
            Boolean.parseBoolean(lines.getOrDefault("granted", "false")),
            new Holder(
                lines.getOrDefault("host", ""),
                Long.parseLong(lines.getOrDefault("pid", "0")),
                lines.getOrDefault("thread", ""),
                lines.getOrDefault("application", ""),
                lines.getOrDefault("note", "")));
    if (stored.tokens < 1
        || stored.leaseMillis < 0
        || stored.leaseMillis > LONGEST_MILLIS
        || stored.holdMillis < 0
        || stored.holdMillis > LONGEST_MILLIS) {
      throw new IllegalArgumentException("its lease, shortest hold or tokens cannot be");
    }
    return stored;
  }

  /**
   * How much of a lock the claim at {@code place} wants: a writer may have become a reader. What
   * nobody can read stands as its name says.
   */
  static long units(Place place, byte[] data) {
    if (place.units() != GrantRule.ALL_OF_A_LOCK) {
      return place.units();
    }
    try {
      return Nodes.units(parse(place.name(), data).mode());
    } catch (StoreException unreadable) {
      return place.units();
    }
  }

  /** As {@link #parse}; what nobody can read is as its name says, and nobody's. */
  static Stored shown(Place place, byte[] data) {
    try {
      return parse(place.name(), data);
    } catch (StoreException unreadable) {
      return new Stored(place.mode(), 0, 0, 1, false, NOBODY);
    }
  }

  static byte[] kind(Kind kind) {
    return ("kind=" + kind + "\n").getBytes(UTF_8);
  }

  static Kind parseKind(String path, byte[] data) {
    String text = new String(data, UTF_8).strip();
    try {
      return Kind.parse(text.startsWith("kind=") ? text.substring("kind=".length()) : text);
    } catch (IllegalArgumentException e) {
      throw new StoreException(
          "node " + path + " is no lock of Pawl's: " + e.getMessage() + "; delete it", e);
    }
  }
}
