package io.pawl.bench.report;

import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** The report for programs, with every fork's figures. */
public final class JsonReport {

  private JsonReport() {}

  public static String of(Map<String, String> machine, List<Section> sections) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      json.writeName("machine");
      json.writeStartObject();
      machine.forEach(json::writeStringProperty);
      json.writeEndObject();
      json.writeName("sections");
      json.writeStartArray();
      sections.forEach(section -> write(json, section));
      json.writeEndArray();
      json.writeEndObject();
    }
    return text + "\n";
  }

  private static void write(JsonGenerator json, Section section) {
    json.writeStartObject();
    json.writeStringProperty("suite", section.suite());
    json.writeStringProperty("title", section.title());
    json.writeName("sides");
    json.writeStartArray();
    for (Side side : section.sides()) {
      json.writeStartObject();
      json.writeStringProperty("name", side.name());
      json.writeName("overForks");
      json.writeStartObject();
      for (Metric metric : section.metrics()) {
        write(json, metric, side.figure(metric));
      }
      json.writeEndObject();
      json.writeName("forks");
      json.writeStartArray();
      side.forks().forEach(fork -> write(json, fork));
      json.writeEndArray();
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeName("targets");
    json.writeStartArray();
    section.targets().forEach(target -> write(json, target, section.sides()));
    json.writeEndArray();
    json.writeName("notes");
    json.writeStartArray();
    section.notes().forEach(json::writeString);
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Sample fork) {
    json.writeStartObject();
    fork.figures().forEach((metric, value) -> write(json, metric, value));
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Target target, List<Side> sides) {
    json.writeStartObject();
    json.writeStringProperty("target", target.words());
    json.writeNumberProperty("bound", target.bound());
    writeNumber(json, "measured", target.measured(sides));
    json.writeStringProperty("verdict", target.verdict(sides).words);
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Metric metric, double value) {
    writeNumber(json, metric.key(), value);
  }

  /** JSON has neither infinity nor "not a number". */
  private static void writeNumber(JsonGenerator json, String name, double value) {
    if (Double.isFinite(value)) {
      json.writeNumberProperty(name, value);
    } else {
      json.writeNullProperty(name);
    }
  }
}
