package io.pawl.sql.lock;

import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.rule.LockState.Entry;
import io.pawl.sql.dialect.IsoMillis;
import java.io.StringWriter;
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
 * Claims as a column holds them and a person can read them: JSON with times in ISO 8601, which the
 * database never interprets.
 */
final class ClaimsText {

  static final String NONE = "[]";

  /** What stands before each of the two times of the first claim. */
  static final String BEFORE_SINCE = "[{\"since\":\"";

  static final String BEFORE_UNTIL = "\",\"until\":\"";

  /** Written where there is one; a text without it is of a claim without. */
  private static final String MIN_HOLD = "minHoldMillis";

  private static final String LINGERS = "lingers";

  private static final JsonFactory JSON = new JsonFactory();

  private ClaimsText() {}

  static String write(Collection<Entry> entries) {
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

  /**
   * What {@link #write} wrote.
   *
   * @throws RuntimeException where it cannot be read
   */
  static List<Entry> read(String text) {
    List<Entry> entries = new ArrayList<>();
    for (Map<String, String> fields : readObjects(text)) {
      Holder holder =
          new Holder(
              text(fields, "host"),
              number(fields, "pid"),
              text(fields, "thread"),
              text(fields, "application"),
              text(fields, "note"));
      entries.add(
          new Entry(
              ClaimId.parse(text(fields, "claim")),
              Mode.parse(text(fields, "mode")),
              number(fields, "leaseMillis"),
              (int) number(fields, "tokens"),
              number(fields, "tokenFloor"),
              holder,
              time(fields, "since"),
              time(fields, "until"),
              Long.parseLong(fields.getOrDefault("token", "0")),
              Long.parseLong(fields.getOrDefault("lastToken", "0")),
              Long.parseLong(fields.getOrDefault(MIN_HOLD, "0")),
              Boolean.parseBoolean(fields.get(LINGERS))));
    }
    return entries;
  }

  /** Claims, each with the time until which it counts. */
  static String write(Map<ClaimId, Long> times) {
    if (times.isEmpty()) {
      return NONE;
    }
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartArray();
      times.forEach(
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

  static Map<ClaimId, Long> readTimes(String text) {
    Map<ClaimId, Long> times = new LinkedHashMap<>();
    for (Map<String, String> fields : readObjects(text)) {
      times.put(ClaimId.parse(text(fields, "claim")), time(fields, "until"));
    }
    return times;
  }

  private static List<Map<String, String>> readObjects(String text) {
    if (text.equals(NONE)) {
      return List.of();
    }
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
