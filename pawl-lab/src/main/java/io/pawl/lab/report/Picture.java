package io.pawl.lab.report;

import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Trace.Span;
import io.pawl.lab.stage.Trace.Step;
import java.util.List;

/** The timeline of one run as inline SVG: a lane for each actor, a column for each step. */
final class Picture {

  private static final int LEFT = 64;
  private static final int WIDTH = 580;
  private static final int NARROWEST = 30;
  private static final int WIDEST = 54;
  private static final int RIGHT = 24;
  private static final int LANE = 38;
  private static final int TOP = 10;
  private static final long LONGEST_TOKEN = 1_000_000;
  private static final int FOOT = 20;

  private final Trace trace;
  private final List<String> actors;
  private final int column;
  private final StringBuilder svg = new StringBuilder();

  private Picture(Trace trace) {
    this.trace = trace;
    this.actors = trace.actors();
    int room = (WIDTH - LEFT - RIGHT) / Math.max(1, trace.steps().size());
    this.column = Math.max(NARROWEST, Math.min(WIDEST, room));
  }

  static String of(Trace trace) {
    return new Picture(trace).drawn();
  }

  private String drawn() {
    int columns = trace.steps().size();
    int width = LEFT + columns * column + RIGHT;
    int height = TOP + actors.size() * LANE + FOOT;
    svg.append(
        "<svg class=\"timeline\" role=\"img\" aria-label=\"who held when\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">"
            .formatted(width, height, width, height));
    for (int lane = 0; lane < actors.size(); lane++) {
      svg.append(
          "<text class=\"actor\" x=\"%d\" y=\"%d\">%s</text>"
              .formatted(LEFT - 14, middle(lane) + 4, Html.escaped(actors.get(lane))));
      svg.append(
          "<line class=\"lane\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
              .formatted(LEFT, width - 8, middle(lane), middle(lane)));
    }
    trace.spans().forEach(this::span);
    for (int number = 0; number < columns; number++) {
      step(number, trace.steps().get(number));
    }
    return svg.append("</svg>").toString();
  }

  private static int middle(int lane) {
    return TOP + lane * LANE + LANE / 2;
  }

  private int x(int number) {
    return LEFT + number * column + column / 2;
  }

  private void span(Span span) {
    int lane = actors.indexOf(span.actor());
    int from = x(span.from()) - column / 2 + 3;
    int to = x(span.to()) + column / 2 - 3;
    svg.append(
        "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"><title>%s</title></rect>"
            .formatted(
                span.overlaps() ? "hold overlap" : "hold",
                from,
                middle(lane) - 12,
                to - from,
                24,
                Html.escaped(described(span))));
    if (span.token() > 0) {
      svg.append(
          "<text class=\"token\" x=\"%d\" y=\"%d\">#%s</text>"
              .formatted(from + 2, middle(lane) - 15, tail(span.token())));
    }
  }

  /** Redis' tokens come from its clock, and have sixteen digits. */
  private static String tail(long token) {
    return token < LONGEST_TOKEN ? Long.toString(token) : "…%06d".formatted(token % LONGEST_TOKEN);
  }

  private static String described(Span span) {
    return span.actor()
        + " holds"
        + (span.token() > 0 ? " with token " + span.token() : "")
        + (span.overlaps() ? ", beside another" : "")
        + (span.ended().isEmpty() ? "" : ", until: " + span.ended());
  }

  private void step(int number, Step step) {
    int x = x(number);
    int y = middle(actors.indexOf(step.actor()));
    String mark =
        switch (step.mark()) {
          case STEP -> "<circle class=\"step\" cx=\"%d\" cy=\"%d\" r=\"4\"/>".formatted(x, y);
          case FAULT ->
              "<path class=\"fault\" d=\"M%d %dl10 10m0 -10l-10 10\"/>".formatted(x - 5, y - 5);
          case REFUSED -> "<circle class=\"refused\" cx=\"%d\" cy=\"%d\" r=\"5\"/>".formatted(x, y);
          case WRITE, STALE ->
              "<path class=\"%s\" d=\"M%d %dl7 7l-7 7l-7 -7z\"/>"
                  .formatted(step.mark() == Trace.Mark.WRITE ? "write" : "stale", x, y - 7);
          case FENCED ->
              "<path class=\"fenced\" d=\"M%d %dl7 7l-7 7l-7 -7z\"/>".formatted(x, y - 7);
        };
    svg.append("<g><title>")
        .append(Html.escaped(step.millis() + " ms: " + step.actor() + ": " + step.text()))
        .append("</title>")
        .append(mark)
        .append("</g>")
        .append(
            "<text class=\"number\" x=\"%d\" y=\"%d\">%d</text>"
                .formatted(x, TOP + actors.size() * LANE + 13, number + 1));
  }
}
