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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Claims as a column holds them and a person can read them: JSON with times in ISO 8601, which the
 * database never interprets. What a claim does not say is as in the one before it. The first then
 * has no application, no note, asks for one token and has no floor. Tokens that were granted, a
 * shortest hold and what is left of one are said by whoever has them.
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
      Entry before = null;
      for (Entry entry : entries) {
        write(json, before, entry);
        before = entry;
      }
      json.writeEndArray();
    }
    return text.toString();
  }

  private static void write(JsonGenerator json, @Nullable Entry before, Entry entry) {
    boolean all = before == null;
    Entry last = before == null ? entry : before;
    Holder holder = entry.holder();
    json.writeStartObject();
    if (all || last.since() != entry.since()) {
      json.writeStringProperty("since", IsoMillis.format(entry.since()));
    }
    if (all || last.until() != entry.until()) {
      json.writeStringProperty("until", IsoMillis.format(entry.until()));
    }
    if (entry.token() > 0) {
      json.writeNumberProperty("token", entry.token());
      json.writeNumberProperty("lastToken", entry.lastToken());
    }
    if (all || !last.mode().equals(entry.mode())) {
      json.writeStringProperty("mode", entry.mode().toString());
    }
    Holder known = last.holder();
    write(json, all, "host", known.host(), holder.host());
    write(json, all, "pid", known.pid(), holder.pid());
    write(json, all, "thread", known.thread(), holder.thread());
    write(json, false, "application", all ? "" : known.application(), holder.application());
    write(json, false, "note", all ? "" : known.note(), holder.note());
    json.writeStringProperty("claim", entry.id().toString());
    write(json, all, "leaseMillis", last.leaseMillis(), entry.leaseMillis());
    write(json, false, "tokens", all ? 1 : last.tokens(), entry.tokens());
    write(json, false, "tokenFloor", all ? 0 : last.tokenFloor(), entry.tokenFloor());
    if (entry.minHoldMillis() > 0) {
      json.writeNumberProperty(MIN_HOLD, entry.minHoldMillis());
    }
    if (entry.lingers()) {
      json.writeBooleanProperty(LINGERS, true);
    }
    json.writeEndObject();
  }

  private static void write(
      JsonGenerator json, boolean always, String name, String before, String value) {
    if (always || !value.equals(before)) {
      json.writeStringProperty(name, value);
    }
  }

  private static void write(
      JsonGenerator json, boolean always, String name, long before, long value) {
    if (always || value != before) {
      json.writeNumberProperty(name, value);
    }
  }

  /**
   * What {@link #write} wrote.
   *
   * @throws RuntimeException where it cannot be read
   */
  static List<Entry> read(String text) {
    List<Entry> entries = new ArrayList<>();
    readEach(text, fields -> entries.add(fields.entry()));
    return entries;
  }

  /** Claims, each with the time until which it counts. */
  static String writeTimes(Map<ClaimId, Long> times) {
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
    readEach(text, fields -> times.put(fields.id(), fields.until()));
    return times;
  }

  private static void readEach(String text, Consumer<Fields> reader) {
    if (text.equals(NONE)) {
      return;
    }
    Fields fields = new Fields();
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), text)) {
      expect(json.nextToken() == JsonToken.START_ARRAY);
      for (JsonToken each = json.nextToken();
          each != JsonToken.END_ARRAY;
          each = json.nextToken()) {
        expect(each == JsonToken.START_OBJECT);
        fields.begin();
        for (String name = json.nextName(); name != null; name = json.nextName()) {
          expect(json.nextToken().isScalarValue());
          fields.set(name, json);
        }
        expect(json.currentToken() == JsonToken.END_OBJECT);
        reader.accept(fields);
      }
    }
  }

  private static void expect(boolean found) {
    if (!found) {
      throw new IllegalArgumentException("not a JSON array of objects");
    }
  }

  /** Those of one object, on top of those before. Whoever reads them names what is missing. */
  private static final class Fields {

    private @Nullable String since;
    private @Nullable String until;
    private @Nullable String mode;
    private @Nullable String host;
    private @Nullable String thread;
    private @Nullable String claim;
    private @Nullable Long pid;
    private @Nullable Long leaseMillis;
    private String application = "";
    private String note = "";
    private long tokens = 1;
    private long tokenFloor;
    private long token;
    private long lastToken;
    private long minHoldMillis;
    private boolean lingers;

    /** Forgets what no claim has of the one before it. */
    void begin() {
      claim = null;
      token = 0;
      lastToken = 0;
      minHoldMillis = 0;
      lingers = false;
    }

    /** Sets the field to the value that {@code json} has come to; skips one that is not known. */
    void set(String name, JsonParser json) {
      switch (name) {
        case "since" -> since = json.getString();
        case "until" -> until = json.getString();
        case "mode" -> mode = json.getString();
        case "host" -> host = json.getString();
        case "thread" -> thread = json.getString();
        case "application" -> application = json.getString();
        case "note" -> note = json.getString();
        case "claim" -> claim = json.getString();
        case "pid" -> pid = number(json);
        case "leaseMillis" -> leaseMillis = number(json);
        case "tokens" -> tokens = number(json);
        case "tokenFloor" -> tokenFloor = number(json);
        case "token" -> token = number(json);
        case "lastToken" -> lastToken = number(json);
        case MIN_HOLD -> minHoldMillis = number(json);
        case LINGERS -> lingers = json.getBooleanValue();
        default -> {}
      }
    }

    private static long number(JsonParser json) {
      return json.currentToken() == JsonToken.VALUE_NUMBER_INT
          ? json.getLongValue()
          : Long.parseLong(json.getString());
    }

    ClaimId id() {
      return ClaimId.parse(there("claim", claim));
    }

    long until() {
      return IsoMillis.parse(there("until", until));
    }

    Entry entry() {
      return new Entry(
          id(),
          Mode.parse(there("mode", mode)),
          there("leaseMillis", leaseMillis),
          Math.toIntExact(tokens),
          tokenFloor,
          new Holder(
              there("host", host), there("pid", pid), there("thread", thread), application, note),
          IsoMillis.parse(there("since", since)),
          until(),
          token,
          lastToken,
          minHoldMillis,
          lingers);
    }

    private static <T> T there(String name, @Nullable T value) {
      if (value == null) {
        throw new IllegalArgumentException("'" + name + "' is missing");
      }
      return value;
    }
  }
}
