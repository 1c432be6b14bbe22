package io.pawl.cli.command;

import java.util.List;
import java.util.Locale;

/** One JSON object on one line, its fields in the order in which they were put. */
public final class Json {

  private final StringBuilder text = new StringBuilder("{");

  public Json put(String key, String value) {
    key(key);
    string(value);
    return this;
  }

  public Json put(String key, long value) {
    key(key);
    text.append(value);
    return this;
  }

  public Json put(String key, Json value) {
    key(key);
    text.append(value);
    return this;
  }

  public Json put(String key, List<Json> values) {
    key(key);
    text.append('[');
    for (int i = 0; i < values.size(); i++) {
      text.append(i == 0 ? "" : ",").append(values.get(i));
    }
    text.append(']');
    return this;
  }

  private void key(String key) {
    if (text.length() > 1) {
      text.append(',');
    }
    string(key);
    text.append(':');
  }

  private void string(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (c < 0x20 || Character.isSurrogate(c) || c == 0x7f) {
        text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        text.append(c);
      }
    }
    text.append('"');
  }

  @Override
  public String toString() {
    return text + "}";
  }
}
