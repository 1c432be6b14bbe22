package io.pawl.etcd.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * JSON as maps, lists and texts. Numbers are kept as texts, as the gateway sends 64-bit numbers
 * anyway; what is missing reads as zero, empty or false, as in protobuf.
 */
public final class Json {

  private static final JsonFactory JSON = new JsonFactory();

  private Json() {}

  /**
   * Returns the fields of one JSON object.
   *
   * @throws IllegalArgumentException if {@code text} is none
   */
  public static Map<String, Object> object(byte[] text) {
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), text)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        throw new IllegalArgumentException("not a JSON object");
      }
      return fields(json);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage());
    }
  }

  /** As {@link #object(byte[])}. */
  public static Map<String, Object> object(String text) {
    return object(text.getBytes(UTF_8));
  }

  private static Map<String, Object> fields(JsonParser json) {
    Map<String, Object> fields = new LinkedHashMap<>();
    for (String name = json.nextName(); name != null; name = json.nextName()) {
      Object value = value(json, json.nextToken());
      if (value != null) {
        fields.put(name, value);
      }
    }
    return fields;
  }

  private static @Nullable Object value(JsonParser json, JsonToken token) {
    return switch (token) {
      case START_OBJECT -> fields(json);
      case START_ARRAY -> {
        List<Object> elements = new ArrayList<>();
        for (JsonToken next = json.nextToken();
            next != JsonToken.END_ARRAY;
            next = json.nextToken()) {
          Object element = value(json, next);
          if (element != null) {
            elements.add(element);
          }
        }
        yield elements;
      }
      case VALUE_NULL -> null;
      default -> json.getString();
    };
  }

  /** Returns a JSON object of {@code fields}, whose values are texts, numbers or truth values. */
  public static String of(Map<String, ?> fields) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      fields.forEach(
          (name, value) -> {
            if (value instanceof Number number) {
              json.writeNumberProperty(name, number.longValue());
            } else if (value instanceof Boolean truth) {
              json.writeBooleanProperty(name, truth);
            } else {
              json.writeStringProperty(name, value.toString());
            }
          });
      json.writeEndObject();
    }
    return text.toString();
  }

  public static String text(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof String text ? text : "";
  }

  /** Returns a number of 64 bits, with a sign or without. */
  public static long number(Map<String, Object> fields, String name) {
    String text = text(fields, name);
    if (text.isEmpty()) {
      return 0;
    }
    return text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
  }

  public static boolean flag(Map<String, Object> fields, String name) {
    return text(fields, name).equals("true");
  }

  @SuppressWarnings("unchecked")
  public static Map<String, Object> object(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof Map<?, ?> object ? (Map<String, Object>) object : Map.of();
  }

  @SuppressWarnings("unchecked")
  public static List<Map<String, Object>> objects(Map<String, Object> fields, String name) {
    return fields.get(name) instanceof List<?> list ? (List<Map<String, Object>>) list : List.of();
  }

  static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
  }

  static String decoded(String base64) {
    return new String(Base64.getDecoder().decode(base64), UTF_8);
  }
}
