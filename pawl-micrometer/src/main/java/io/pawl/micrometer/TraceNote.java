package io.pawl.micrometer;

import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The trace of a request, as its claim's note tells of it: {@code traceparent=} and what the W3C's
 * header of that name has.
 */
record TraceNote(String traceId, String spanId, boolean sampled) {

  private static final Pattern TEXT =
      Pattern.compile("traceparent=00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})\\b");

  static TraceNote of(TraceContext context) {
    return new TraceNote(
        padded(context.traceId(), 32),
        padded(context.spanId(), 16),
        Boolean.TRUE.equals(context.sampled()));
  }

  /** Some tracers have shorter ids. */
  private static String padded(String id, int length) {
    return "0".repeat(Math.max(0, length - id.length())) + id;
  }

  /** Returns that in the note, null where there is none. */
  static @Nullable TraceNote parsed(String note) {
    Matcher found = TEXT.matcher(note);
    if (!found.find()) {
      return null;
    }
    boolean sampled = (Integer.parseInt(found.group(3), 16) & 1) != 0;
    return new TraceNote(found.group(1), found.group(2), sampled);
  }

  @Override
  public String toString() {
    return "traceparent=00-" + traceId + "-" + spanId + (sampled ? "-01" : "-00");
  }

  TraceContext in(Tracer tracer) {
    return tracer.traceContextBuilder().traceId(traceId).spanId(spanId).sampled(sampled).build();
  }
}
