package io.pawl.cli.counter;

import io.pawl.Counter;
import io.pawl.cli.command.Arguments;
import io.pawl.cli.command.Failure;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import io.pawl.spi.Amounts;
import io.pawl.spi.LockName;
import io.pawl.spi.Operation;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParseResult;

/** What {@code pawl counter} was asked for, checked. */
record CounterTask(CounterVerb verb, String counter, Step step) {

  private static final int DEFAULT_LIMIT = 20;
  private static final int MAX_LIMIT = 100_000;

  /** Does it, tells, and answers with the exit code. */
  interface Step {
    int run(Counter counter, CounterReport report);
  }

  static CounterTask read(List<String> words, ParseResult arguments) {
    if (words.size() < 2) {
      throw Failure.usage(
          words.isEmpty()
              ? "what to do is missing; see pawl counter --help"
              : "write: " + CounterVerb.of(words.get(0)).usage());
    }
    CounterVerb verb = CounterVerb.of(words.get(0));
    List<String> operands = words.subList(2, words.size());
    verb.checkOperands(operands.size());
    checkOptions(verb, arguments);
    try {
      String name = Arguments.text("counter name", words.get(1));
      LockName.check("counter name", name, LockName.MAX_BYTES);
      return new CounterTask(verb, name, step(verb, operands, arguments));
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  private static void checkOptions(CounterVerb verb, ParseResult arguments) {
    if (arguments.hasMatchedOption("--id") && !verb.takesId()) {
      throw Failure.usage("--id does not go with " + verb + "; write: " + verb.usage());
    }
    if (arguments.hasMatchedOption("--ttl") && verb != CounterVerb.RESERVE) {
      throw Failure.usage("--ttl goes with reserve only");
    }
    if (arguments.hasMatchedOption("--older") && verb != CounterVerb.PRUNE) {
      throw Failure.usage("--older goes with prune only");
    }
    if (arguments.hasMatchedOption("--within") && !verb.asksById()) {
      throw Failure.usage("--within goes with outcome, confirm and cancel only");
    }
    if (arguments.hasMatchedOption("--limit") && verb != CounterVerb.HISTORY) {
      throw Failure.usage("--limit goes with history only");
    }
  }

  private static Step step(CounterVerb verb, List<String> operands, ParseResult arguments) {
    return switch (verb) {
      case GET -> (counter, report) -> report.value(counter.read());
      case ADD -> add(number("amount", operands.get(0)), id(arguments));
      case TAKE -> add(-amount(operands), id(arguments));
      case GIVE -> add(amount(operands), id(arguments));
      case SET -> set(number("value", operands.get(0)), id(arguments));
      case BOUNDS ->
          operands.isEmpty()
              ? (counter, report) -> report.bounds(counter.read())
              : bounds(
                  number("floor", operands.get(0)),
                  number("ceiling", operands.get(1)),
                  id(arguments));
      case RESERVE -> reserve(amount(operands), ttl(arguments), id(arguments));
      case CONFIRM, CANCEL, OUTCOME -> resolve(verb, usedBefore(operands.get(0), arguments));
      case HISTORY -> history(limit(arguments.matchedOptionValue("--limit", null)));
      case PRUNE -> prune(older(arguments));
    };
  }

  private static Step add(long amount, @Nullable OperationId id) {
    Operation checked = new Operation.Add(amount);
    return (counter, report) ->
        report.changed(checked, id == null ? counter.add(amount) : counter.add(amount, id));
  }

  private static Step set(long value, @Nullable OperationId id) {
    Operation checked = new Operation.SetTo(value);
    return (counter, report) ->
        report.changed(
            checked,
            id == null ? counter.update(Update.set(value)) : counter.update(Update.set(value), id));
  }

  private static Step bounds(long floor, long ceiling, @Nullable OperationId id) {
    Operation checked = new Operation.SetBounds(floor, ceiling);
    return (counter, report) ->
        report.changed(
            checked,
            id == null
                ? counter.update(Update.bounds(floor, ceiling))
                : counter.update(Update.bounds(floor, ceiling), id));
  }

  private static Step reserve(long amount, Duration ttl, @Nullable OperationId id) {
    if (id == null) {
      throw Failure.usage("reserve needs --id, by which it is confirmed or cancelled");
    }
    return (counter, report) -> report.reserved(counter.reserve(amount, ttl, id), id);
  }

  private static Step resolve(CounterVerb verb, OperationId id) {
    return switch (verb) {
      case CONFIRM -> (counter, report) -> report.resolved(counter.confirm(id), id);
      case CANCEL -> (counter, report) -> report.resolved(counter.cancel(id), id);
      default -> (counter, report) -> report.outcome(counter.outcome(id));
    };
  }

  private static Step history(int limit) {
    return (counter, report) -> report.history(counter.ledger().history(limit));
  }

  private static Step prune(Instant before) {
    return (counter, report) -> report.pruned(counter.ledger().prune(before));
  }

  private static Instant older(ParseResult arguments) {
    String text = arguments.matchedOptionValue("--older", null);
    if (text == null) {
      throw Failure.usage("prune needs --older: operations are forgotten that are older, say 30d");
    }
    return ago("--older", text);
  }

  private static Instant ago(String option, String text) {
    Instant then = Instant.now().minus(Arguments.duration(option, text));
    if (then.isBefore(Instant.EPOCH)) {
      throw Failure.usage(option + ": " + text + " ago was before 1970; nothing is so old");
    }
    return then;
  }

  private static long amount(List<String> operands) {
    return operands.isEmpty() ? 1 : Amounts.positive("amount", number("amount", operands.get(0)));
  }

  private static long number(String what, String text) {
    if (!text.matches("[+-]?\\d+")) {
      throw Failure.usage(what + ": " + Arguments.shown(text) + " is no whole number");
    }
    try {
      return Amounts.value(what, Long.parseLong(text));
    } catch (NumberFormatException e) {
      throw Failure.usage(
          what + ": " + text + " is not within ±9007199254740991, which is 2^53 - 1");
    }
  }

  private static Duration ttl(ParseResult arguments) {
    String text = arguments.matchedOptionValue("--ttl", null);
    if (text == null) {
      throw Failure.usage(
          "reserve needs --ttl, after which what is not confirmed returns to stock");
    }
    Duration ttl = Arguments.duration("--ttl", text);
    if (ttl.toMillis() < 1) {
      throw Failure.usage("--ttl: " + text + " is shorter than 1ms");
    }
    return ttl;
  }

  private static @Nullable OperationId id(ParseResult arguments) {
    String text = arguments.matchedOptionValue("--id", null);
    return text == null ? null : operationId(text);
  }

  /** An id of an earlier call, with the time before which it was not used if that is said. */
  private static OperationId usedBefore(String text, ParseResult arguments) {
    OperationId id = operationId(text);
    String within = arguments.matchedOptionValue("--within", null);
    return within == null ? id : OperationId.of(id.text(), ago("--within", within));
  }

  private static OperationId operationId(String text) {
    return OperationId.of(Arguments.text("operation id", text));
  }

  private static int limit(@Nullable String text) {
    long limit = text == null ? DEFAULT_LIMIT : number("--limit", text);
    if (limit < 1 || limit > MAX_LIMIT) {
      throw Failure.usage("--limit: " + text + " is not between 1 and " + MAX_LIMIT);
    }
    return (int) limit;
  }
}
