package io.pawl.redis;

import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A lock as its hash has it, for people; {@code rule.lua} explains the fields. */
record Stored(String name, Map<String, String> fields) {

  private static final String NONE = "-";
  private static final int CAPACITY = 3;
  private static final int HOLDERS = 8;
  private static final int WAITERS = 11;

  /** The locks that {@code show.lua} answered, those that exist. */
  static List<LockView> read(List<String> names, List<Object> reply) {
    Iterator<Object> words = reply.iterator();
    long now = (Long) words.next();
    List<LockView> views = new ArrayList<>();
    for (String name : names) {
      long size = (Long) words.next();
      Map<String, String> fields = new HashMap<>();
      for (long i = 0; i < size; i += 2) {
        fields.put((String) words.next(), (String) words.next());
      }
      if (fields.containsKey(".")) {
        views.add(new Stored(name, fields).view(now));
      }
    }
    return views;
  }

  private LockView view(long now) {
    String[] header = fields.getOrDefault(".", "0").split(" ", -1);
    long lastToken = Long.parseLong(header[0]);
    boolean idle = header.length <= WAITERS;
    int capacity = header.length > CAPACITY ? Integer.parseInt(header[CAPACITY]) : 0;
    return new LockView(
        name,
        capacity < 0 ? null : new Kind(capacity),
        lastToken,
        idle ? List.of() : claims(header[HOLDERS], now),
        idle ? List.of() : claims(header[WAITERS], now));
  }

  private List<ClaimView> claims(String first, long now) {
    List<ClaimView> claims = new ArrayList<>();
    String id = first;
    while (!id.equals(NONE) && claims.size() <= fields.size()) {
      String stored = fields.get("e:" + id);
      if (stored == null) {
        break;
      }
      String[] entry = stored.split(" ", -1);
      ClaimView claim = claim(id, entry, fields.get("i:" + id));
      if (claim.until().toEpochMilli() > now) {
        claims.add(claim);
      }
      id = entry[3];
    }
    return claims;
  }

  private static ClaimView claim(String id, String[] entry, @Nullable String info) {
    return new ClaimView(
        ClaimId.parse(id),
        mode(entry[4]),
        Long.parseLong(entry[9]),
        Long.parseLong(entry[10]),
        Instant.ofEpochMilli(Long.parseLong(entry[8])),
        Instant.ofEpochMilli(Long.parseLong(entry[1])),
        holder(info == null ? "" : info));
  }

  static String text(Mode mode) {
    if (mode instanceof Mode.Exclusive) {
      return "x";
    }
    return mode instanceof Mode.Shared ? "s" : mode.toString();
  }

  private static Mode mode(String text) {
    return switch (text) {
      case "x" -> Mode.EXCLUSIVE;
      case "s" -> Mode.SHARED;
      default -> Mode.parse(text);
    };
  }

  /** Its fields have no control characters. */
  static String text(Holder holder) {
    return holder.host()
        + '\t'
        + holder.pid()
        + '\t'
        + holder.thread()
        + '\t'
        + holder.application()
        + '\t'
        + holder.note();
  }

  private static Holder holder(String text) {
    String[] parts = text.split("\t", -1);
    return parts.length == 5
        ? new Holder(parts[0], Long.parseLong(parts[1]), parts[2], parts[3], parts[4])
        : new Holder("?", 0, "?", "", text);
  }
}
