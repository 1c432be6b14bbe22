package io.pawl.cli.inspect;

import io.pawl.cli.command.Exit;
import io.pawl.cli.command.LockText;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.Specs;
import io.pawl.cli.command.Table;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/** {@code pawl list}: the locks that are held or waited for. */
public final class ListCommand extends InspectCommand {

  private static final int LIMIT = 10_000;

  public ListCommand(Map<String, String> environment, Output output) {
    super(environment, output);
  }

  @Override
  public CommandSpec spec() {
    return Specs.command("list", "Lists the locks that are held or waited for.")
        .addOption(Specs.store())
        .addOption(Specs.json("One JSON object per lock and line."));
  }

  @Override
  int inspect(Inspectable store, ParseResult arguments) {
    List<LockView> locks = await(store.list(LIMIT));
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
