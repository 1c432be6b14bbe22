package io.pawl.cli.upkeep;

import io.pawl.Maintenance;
import io.pawl.Pawl;
import io.pawl.cli.command.Command;
import io.pawl.cli.command.Exit;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.cli.command.StoreSetting;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ParseResult;

/** A command that changes what the store remembers. */
abstract class UpkeepCommand implements Command {

  final Output output;
  private final Map<String, String> environment;

  UpkeepCommand(Map<String, String> environment, Output output) {
    this.environment = environment;
    this.output = output;
  }

  /** What was asked for, checked before the store is opened. */
  interface Task {
    void perform(Maintenance maintenance);
  }

  abstract Task task(ParseResult arguments);

  @Override
  public final int run(ParseResult arguments, List<String> rest) {
    Task task = task(arguments);
    StoreSetting setting =
        StoreSetting.find(arguments.matchedOptionValue("--store", null), environment);
    PawlOptions client = PawlOptions.defaults().application("pawl").releaseAtShutdown(false);
    try (LockStore store = setting.open();
        Pawl pawl = Pawl.over(store, client)) {
      task.perform(pawl.maintenance());
      return Exit.OK;
    } catch (UnsupportedOperationException e) {
      throw new Failure(
          Exit.CONFIGURATION,
          setting + ": this store has nothing to maintain; of a gate, name the truth");
    }
  }
}
