package io.pawl.redis;

import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LedgerEntry.Status;
import io.pawl.spi.Operation;
import java.util.ArrayList;
import java.util.List;

/**
 * Counters and their entries as their hashes have them; {@code counter.lua} explains the fields.
 */
final class StoredCounter {

  private static final int HEADER_WORDS = 12;
  private static final int ENTRY_WORDS = 7;
  static final long FORGOTTEN_UNIT = 100_000_000;

  private StoredCounter() {}

  static CounterView view(String name, String header) {
    String[] words = words(header, HEADER_WORDS);
    return new CounterView(
        name,
        Long.parseLong(words[0]),
        Long.parseLong(words[1]),
        Long.parseLong(words[2]),
        Long.parseLong(words[3]),
        Long.parseLong(words[4]) * FORGOTTEN_UNIT + Long.parseLong(words[5]),
        Long.parseLong(words[6]));
  }

  static LedgerEntry entry(String id, String text) {
    String[] words = words(text, ENTRY_WORDS);
    return new LedgerEntry(
        id,
        Operation.parse(words[6]),
        status(words[0]),
        Long.parseLong(words[1]),
        Long.parseLong(words[2]),
        Long.parseLong(words[3]),
        Long.parseLong(words[4]),
        Long.parseLong(words[5]));
  }

  /** The ids and entries from {@code at} to the end of a reply. */
  static List<LedgerEntry> entries(List<Object> reply, int at) {
    List<LedgerEntry> entries = new ArrayList<>();
    for (int i = at; i + 1 < reply.size(); i += 2) {
      entries.add(entry((String) reply.get(i), (String) reply.get(i + 1)));
    }
    return entries;
  }

  private static String[] words(String text, int count) {
    String[] words = text.split(" ", count);
    if (words.length < count) {
      throw new IllegalArgumentException("'" + text + "' has not " + count + " words");
    }
    return words;
  }

  private static Status status(String letter) {
    return switch (letter) {
      case "a" -> Status.APPLIED;
      case "r" -> Status.REFUSED;
      case "o" -> Status.RESERVED;
      case "c" -> Status.CONFIRMED;
      case "x" -> Status.CANCELLED;
      case "e" -> Status.EXPIRED;
      case "n" -> Status.NEVER;
      default -> throw new IllegalArgumentException("status '" + letter + "' is none");
    };
  }
}
