package io.pawl.cli.demo;

import io.pawl.cli.demo.DemoFiles.Content;
import io.pawl.cli.demo.DemoHistory.Event;
import io.pawl.cli.demo.DemoHistory.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Computes from the recorded history whether the promises were kept. */
final class DemoCheck {

  private final List<Event> events;
  private final Map<Long, Event> validity = new HashMap<>();

  DemoCheck(List<Event> events) {
    this.events = events;
    of(Kind.VALID).forEach(event -> validity.put(event.token(), event));
  }

  List<Event> of(Kind kind) {
    return events.stream().filter(event -> event.kind() == kind).toList();
  }

  /**
   * What is wrong; empty if every promise was kept.
   *
   * @param killed how many holders were: each may have written without a note of it
   */
  List<String> failures(Content fenced, int killed) {
    List<String> failures = new ArrayList<>();
    List<Event> grants =
        of(Kind.GRANT).stream().sorted(Comparator.comparingLong(Event::token)).toList();
    for (int i = 1; i < grants.size(); i++) {
      Event earlier = grants.get(i - 1);
      Event later = grants.get(i);
      if (earlier.token() == later.token()) {
        failures.add("token " + later.token() + " was granted twice");
      } else if (later.second() - earlier.first() < 0) {
        failures.add("token " + later.token() + " was granted before " + earlier.token());
      }
      Event valid = validity.get(earlier.token());
      if (valid != null && valid.pid() == earlier.pid() && later.second() - valid.first() < 0) {
        failures.add("leases " + earlier.token() + " and " + later.token() + " were valid at once");
      }
    }
    checkFence(fenced, killed, failures);
    return failures;
  }

  private void checkFence(Content fenced, int killed, List<String> failures) {
    List<Event> accepted = of(Kind.ACCEPTED);
    long largest = 0;
    for (Event write : accepted) {
      if (write.token() < largest) {
        failures.add("the fence let token " + write.token() + " write after " + largest);
      }
      largest = Math.max(largest, write.token());
    }
    if (fenced.value() < accepted.size() || fenced.value() > accepted.size() + killed) {
      failures.add(
          "the fenced file counts " + fenced.value() + " after " + accepted.size() + " writes");
    }
  }

  /** Writes to the unfenced file by a holder after a later one had written. */
  long staleUnfencedWrites() {
    long largest = 0;
    long stale = 0;
    for (Event write : of(Kind.UNFENCED)) {
      stale += write.token() < largest ? 1 : 0;
      largest = Math.max(largest, write.token());
    }
    return stale;
  }
}
