package io.pawl.sql.lock;

import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Tokens;
import io.pawl.spi.rule.LockState;
import io.pawl.spi.rule.LockState.Entry;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.IsoMillis;
import io.pawl.sql.dialect.Table;
import java.io.StringWriter;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * The row of a lock, whose columns a person can read: JSON with times in ISO 8601, which the
 * database never interprets.
 */
public record Row(String name, String kind, long lastToken, String holders, String withdrawn) {

  private static final String NONE = "[]";
  private static final String ANY_KIND = "";
  private static final JsonFactory JSON = new JsonFactory();

  /** What stands before each of the two times of the first of the holders. */
  static final String BEFORE_SINCE = "[{\"since\":\"";

  static final String BEFORE_UNTIL = "\",\"until\":\"";

  /** Written where there is one; a row without it is of a claim without. */
  private static final String MIN_HOLD = "minHoldMillis";

  private static final String LINGERS = "lingers";

  public static final int COLUMN_COUNT = 6;

  /** What a poll needs to see of {@code n} rows. */
  static String selectHolders(int n) {
    return "SELECT name, kind, last_token, holders, '[]' FROM pawl_lock WHERE name IN ("
        + Table.repeated("?", n)
        + ")";
  }

  public static Row read(ResultSet columns) throws SQLException {
    return new Row(
        columns.getString(1),
        columns.getString(2),
        columns.getLong(3),
        columns.getString(4),
        columns.getString(5));
  }

  /**
   * Sets a parameter per column from {@code first} on, and returns the next free one.
   *
   * @param now when it is written
   */
  int bind(PreparedStatement upsert, int first, long now, Dialect dialect) throws SQLException {
    upsert.setString(first, name);
    upsert.setString(first + 1, kind);
    upsert.setLong(first + 2, lastToken);
    upsert.setString(first + 3, holders);
    upsert.setString(first + 4, withdrawn);
    dialect.bindTime(upsert, first + 5, now);
    return first + COLUMN_COUNT;
  }

  /** The row of a lock that the table does not know yet. */
  public static Row unknown(String name) {
    return unknown(name, 0);
  }

  /** As {@link #unknown(String)}, where tokens up to {@code forgotten} may have been granted. */
  static Row unknown(String name, long forgotten) {
    return new Row(name, ANY_KIND, forgotten, NONE, NONE);
  }

  /** The holders' text after the times of the first. */
  String holdersAfterTimes(long since, long until) {
    return holders.substring(
        BEFORE_SINCE.length()
            + IsoMillis.format(since).length()
            + BEFORE_UNTIL.length()
            + IsoMillis.format(until).length());
  }

  public static Row of(LockState state) {
    Kind kind = state.kind();
    return new Row(
        state.lock(),
        kind == null ? ANY_KIND : kind.toString(),
        state.lastToken(),
        write(state.holders()),
        write(state.withdrawn()));
  }

  /** Whether nobody was granted it since it was made. */
  boolean isUnused() {
    return kind.equals(ANY_KIND) || lastToken == 0;
  }

  /** The same, where tokens up to {@code forgotten} may have been granted. */
  Row above(long forgotten) {
    return new Row(name, kind, Math.max(lastToken, forgotten), holders, withdrawn);
  }

  /** Whether nobody holds it. */
  boolean isFree() {
    return holders.equals(NONE);
  }

  /** Its kind; null while it may become of any. */
  @Nullable Kind readKind() {
    return kind.equals(ANY_KIND) ? null : Kind.parse(kind);
  }

  /**
   * @param now see {@link StoredLock#state}
   */
  List<Entry> readHolders(long now) {
    return readEntries(holders, now);
  }

  private static String write(Collection<Entry> entries) {
    if (entries.isEmpty()) {
      return NONE;
    }
    StringWriter text = new StringWriter(256);
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartArray();
      for (Entry entry : entries) {
        write(json, entry);
      }
      json.writeEndArray();
    }
    return text.toString();
  }

  private static void write(JsonGenerator json, Entry entry) {
    json.writeStartObject();
    json.writeStringProperty("since", IsoMillis.format(entry.since()));
    json.writeStringProperty("until", IsoMillis.format(entry.until()));
    if (entry.token() > 0) {
      json.writeNumberProperty("token", entry.token());
      json.writeNumberProperty("lastToken", entry.lastToken());
    }
    json.writeStringProperty("mode", entry.mode().toString());
    json.writeStringProperty("host", entry.holder().host());
    json.writeNumberProperty("pid", entry.holder().pid());
    json.writeStringProperty("thread", entry.holder().thread());
    json.writeStringProperty("application", entry.holder().application());
    json.writeStringProperty("note", entry.holder().note());
    json.writeStringProperty("claim", entry.id().toString());
    json.writeNumberProperty("leaseMillis", entry.leaseMillis());
    json.writeNumberProperty("tokens", entry.tokens());
    json.writeNumberProperty("tokenFloor", entry.tokenFloor());
    if (entry.minHoldMillis() > 0) {
      json.writeNumberProperty(MIN_HOLD, entry.minHoldMillis());
    }
    if (entry.lingers()) {
      json.writeBooleanProperty(LINGERS, true);
    }
    json.writeEndObject();
  }

  private static String write(Map<ClaimId, Long> withdrawn) {
    if (withdrawn.isEmpty()) {
      return NONE;
    }
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartArray();
      withdrawn.forEach(
          (id, until) -> {
            json.writeStartObject();
            json.writeStringProperty("claim", id.toString());
            json.writeStringProperty("until", IsoMillis.format(until));
            json.writeEndObject();
          });
      json.writeEndArray();
    }
    return text.toString();
  }

  private static List<Entry> readEntries(String text, long now) {
    if (text.equals(NONE)) {
      return List.of();
    }
    List<Entry> entries = new ArrayList<>();
    for (Map<String, String> fields : readObjects(text)) {
      long leaseMillis = number(fields, "leaseMillis");
      Holder holder =
          new Holder(
              text(fields, "host"),
              number(fields, "pid"),
              text(fields, "thread"),
              text(fields, "application"),
              text(fields, "note"));
      Entry entry =
          new Entry(
              ClaimId.parse(text(fields, "claim")),
              Mode.parse(text(fields, "mode")),
              leaseMillis,
              (int) number(fields, "tokens"),
              number(fields, "tokenFloor"),
              holder,
              time(fields, "since"),
              time(fields, "until"),
              Long.parseLong(fields.getOrDefault("token", "0")),
              Long.parseLong(fields.getOrDefault("lastToken", "0")),
              Long.parseLong(fields.getOrDefault(MIN_HOLD, "0")),
              Boolean.parseBoolean(fields.get(LINGERS)));
      if (entry.token() < 1
          || entry.lastToken() < entry.token()
          || entry.lastToken() > Tokens.MAX) {
        throw new IllegalArgumentException(
            "tokens " + entry.token() + " to " + entry.lastToken() + " are none");
      }
      entries.add(entry.endingBy(now + entry.longestMillis()));
    }
    return entries;
  }

  Map<ClaimId, Long> readWithdrawn() {
    if (withdrawn.equals(NONE)) {
      return Map.of();
    }
    Map<ClaimId, Long> times = new LinkedHashMap<>();
    for (Map<String, String> fields : readObjects(withdrawn)) {
      times.put(ClaimId.parse(text(fields, "claim")), time(fields, "until"));
    }
    return times;
  }

  private static List<Map<String, String>> readObjects(String text) {
    List<Map<String, String>> objects = new ArrayList<>();
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), text)) {
      expect(json.nextToken(), JsonToken.START_ARRAY);
      for (JsonToken each = json.nextToken();
          each != JsonToken.END_ARRAY;
          each = json.nextToken()) {
        expect(each, JsonToken.START_OBJECT);
        Map<String, String> fields = new LinkedHashMap<>();
        for (String key = json.nextName(); key != null; key = json.nextName()) {
          json.nextToken();
          fields.put(key, json.getString());
        }
        expect(json.currentToken(), JsonToken.END_OBJECT);
        objects.add(fields);
      }
    }
    return objects;
  }

  private static void expect(@Nullable JsonToken found, JsonToken wanted) {
    if (found != wanted) {
      throw new IllegalArgumentException("not a JSON array of objects");
    }
  }

  private static String text(Map<String, String> fields, String key) {
    String value = fields.get(key);
    if (value == null) {
      throw new IllegalArgumentException("'" + key + "' is missing");
    }
    return value;
  }

  private static long number(Map<String, String> fields, String key) {
    return Long.parseLong(text(fields, key));
  }

  private static long time(Map<String, String> fields, String key) {
    return IsoMillis.parse(text(fields, key));
  }
}
