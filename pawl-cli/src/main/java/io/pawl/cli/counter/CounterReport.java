package io.pawl.cli.counter;

import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Json;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Table;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.counter.Reservation;
import io.pawl.spi.CounterView;
import io.pawl.spi.Operation;
import java.time.Instant;
import java.util.List;

/**
 * What {@code pawl counter} says: the number, on standard output, and why it refused, on standard
 * error; or with {@code --json} both in one object. Each answers with the exit code.
 */
final class CounterReport {

  private final String counter;
  private final CounterVerb verb;
  private final boolean json;
  private final Output output;

  CounterReport(String counter, CounterVerb verb, boolean json, Output output) {
    this.counter = counter;
    this.verb = verb;
    this.json = json;
    this.output = output;
  }

  int value(CounterView view) {
    return say(json(view), Long.toString(view.value()));
  }

  int bounds(CounterView view) {
    return say(json(view), view.floor() + " " + view.ceiling());
  }

  private static Json json(CounterView view) {
    return new Json()
        .put("counter", view.name())
        .put("value", view.value())
        .put("floor", view.floor())
        .put("ceiling", view.ceiling())
        .put("reserved", view.reserved());
  }

  int changed(Operation operation, Change change) {
    say(result(change.isApplied()).put("value", change.value()), Long.toString(change.value()));
    return answer(
        change.isApplied(),
        operation
            + " was refused, it is "
            + change.value()
            + "; pawl counter bounds shows its bounds");
  }

  int reserved(Reservation reservation, OperationId id) {
    Json event = result(reservation.isReserved()).put("id", id.text());
    if (reservation instanceof Reservation.Reserved reserved) {
      event.put("until", reserved.until().toString());
    }
    say(event.put("value", reservation.value()), Long.toString(reservation.value()));
    return answer(
        reservation.isReserved(),
        "the reservation was refused, " + reservation.value() + " is left");
  }

  int resolved(boolean done, OperationId id) {
    if (json) {
      output.result(result(done).put("id", id.text()).toString());
    }
    String stands =
        verb == CounterVerb.CONFIRM
            ? "is no open reservation: it is back in stock, or never was"
            : "was confirmed, and is not back in stock";
    return answer(done, "'" + id + "' " + stands);
  }

  /** Success for what has happened or can still be confirmed. */
  int outcome(Outcome outcome) {
    say(json(outcome), outcome.status().toString());
    return switch (outcome.status()) {
      case APPLIED, RESERVED, CONFIRMED -> Exit.OK;
      case REFUSED, CANCELLED, EXPIRED, NEVER -> Exit.BUSY;
    };
  }

  int history(List<Outcome> outcomes) {
    if (json) {
      outcomes.forEach(outcome -> output.result(json(outcome).toString()));
    } else if (outcomes.isEmpty()) {
      output.remark("counter '" + counter + "' has no history");
    } else {
      Table table = new Table("AT", "STATUS", "OPERATION", "CHANGE", "VALUE", "ID");
      for (Outcome outcome : outcomes) {
        table.row(
            outcome.at().toString(),
            outcome.status().toString(),
            outcome.operation(),
            Long.toString(outcome.change()),
            Long.toString(outcome.value()),
            outcome.id());
      }
      table.lines().forEach(output::result);
    }
    return Exit.OK;
  }

  int pruned(long operations) {
    Json event = new Json().put("counter", counter).put("pruned", operations);
    return say(event, "forgot " + operations + " operations");
  }

  private Json json(Outcome outcome) {
    Json event =
        new Json()
            .put("counter", counter)
            .put("id", outcome.id())
            .put("status", outcome.status().toString())
            .put("operation", outcome.operation())
            .put("change", outcome.change())
            .put("value", outcome.value())
            .put("at", outcome.at().toString());
    Instant until = outcome.until();
    return until == null ? event : event.put("until", until.toString());
  }

  /** It may have been made or not; the id tells. */
  int unknown(OutcomeUnknownException e) {
    String id = e.id().text();
    String message =
        "counter '"
            + counter
            + "': the store gave no answer, and whether "
            + verb
            + " was done is not known; ask with: pawl counter outcome NAME "
            + (id.startsWith("-") ? "-- " : "")
            + id;
    if (json) {
      output.event(
          new Json()
              .put("event", "unknown")
              .put("exit", Exit.UNKNOWN)
              .put("id", id)
              .put("message", message));
    } else {
      output.remark(message);
    }
    return Exit.UNKNOWN;
  }

  private Json result(boolean done) {
    return new Json()
        .put("counter", counter)
        .put("operation", verb.toString())
        .put("result", done ? "applied" : "refused");
  }

  private int say(Json event, String text) {
    output.result(json ? event.toString() : text);
    return Exit.OK;
  }

  private int answer(boolean done, String why) {
    if (!done && !json) {
      output.remark("counter '" + counter + "': " + why);
    }
    return done ? Exit.OK : Exit.BUSY;
  }
}
