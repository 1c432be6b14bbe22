package io.pawl.cli.inspect;

import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.StoreSetting;
import io.pawl.error.PawlException;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.ParseResult;

/** A command that looks into the store. */
abstract class InspectCommand implements Command {

  static final Duration PATIENCE = Duration.ofSeconds(10);

  final Map<String, String> environment;
  final Output output;

  InspectCommand(Map<String, String> environment, Output output) {
    this.environment = environment;
    this.output = output;
  }

  @Override
  public final int run(ParseResult arguments, List<String> rest) {
    StoreSetting setting =
        StoreSetting.find(arguments.matchedOptionValue("--store", null), environment);
    check(arguments);
    try (LockStore store = setting.open()) {
      if (store instanceof Inspectable inspectable) {
        return inspect(inspectable, arguments);
      }
      throw new Failure(Exit.CONFIGURATION, setting + ": this store cannot list its locks");
    }
  }

  /** Refuses what cannot be right before the store is opened. */
  void check(ParseResult arguments) {}

  abstract int inspect(Inspectable store, ParseResult arguments);

  static <T> T await(CompletionStage<T> stage) {
    try {
      return within(PATIENCE, stage);
    } catch (TimeoutException e) {
      throw new Failure(
          Exit.UNAVAILABLE, "the store gave no answer within " + PATIENCE.toSeconds() + " s");
    }
  }

  static <T> T within(Duration patience, CompletionStage<T> stage) throws TimeoutException {
    try {
      return stage.toCompletableFuture().get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof PawlException known) {
        throw known;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts a command", e);
    }
  }
}
