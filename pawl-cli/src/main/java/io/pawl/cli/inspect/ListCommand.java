package io.pawl.cli.inspect;

import io.pawl.cli.command.Exit;
import io.pawl.cli.command.LockText;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.cli.command.Table;
import io.pawl.concurrent.DaemonThreads;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl list}: the locks that are held or waited for. */
public final class ListCommand extends InspectCommand {

  private static final int LIMIT = 10_000;

  private final Duration remarksEvery;

  public ListCommand(Map<String, String> environment, Output output) {
    this(environment, output, PATIENCE);
  }

  ListCommand(Map<String, String> environment, Output output, Duration remarksEvery) {
    super(environment, output);
    this.remarksEvery = remarksEvery;
  }

  @Override
  public CommandSpec spec() {
    return Specs.command("list", "Lists the locks that are held or waited for.")
        .addOption(Specs.store())
        .addOption(Specs.json("One JSON object per lock and line."));
  }

  @Override
  int inspect(Inspectable store, ParseResult arguments) {
    List<LockView> locks = whole(list(store));
    if (arguments.hasMatchedOption("--json")) {
      locks.forEach(lock -> output.result(LockText.json(lock).toString()));
    } else if (locks.isEmpty()) {
      output.result("No lock is held or waited for.");
    } else {
      Table table = new Table("LOCK", "MODE", "TOKEN", "HOLDER", "SINCE", "EXPIRES IN", "WAITING");
      locks.forEach(lock -> rows(table, lock));
      table.lines().forEach(output::result);
    }
    if (locks.size() == LIMIT) {
      output.remark("only the first " + LIMIT + " locks are shown");
    }
    return Exit.OK;
  }

  /** On a thread of its own: a store that blocks answers when it has read them all. */
  private static CompletionStage<List<LockView>> list(Inspectable store) {
    Executor other = task -> DaemonThreads.named("pawl-list", task).start();
    return CompletableFuture.supplyAsync(() -> store.list(LIMIT), other)
        .thenCompose(locks -> locks);
  }

  /**
   * A store reads a long list in many requests, and fails if one of them is not answered in time;
   * so whoever waits for the list needs no patience of their own.
   */
  private List<LockView> whole(CompletionStage<List<LockView>> list) {
    while (true) {
      try {
        return within(remarksEvery, list);
      } catch (TimeoutException e) {
        output.remark("the store is still looking through the names that it knows");
      }
    }
  }

  private static void rows(Table table, LockView lock) {
    String waiting = Integer.toString(lock.waiters().size());
    if (lock.holders().isEmpty()) {
      table.row(lock.name(), "-", "-", "-", "-", "-", waiting);
    }
    for (ClaimView claim : lock.holders()) {
      table.row(
          lock.name(),
          claim.mode().toString(),
          Long.toString(claim.token()),
          LockText.who(claim.holder()),
          LockText.since(claim),
          LockText.left(claim),
          waiting);
    }
  }
}
