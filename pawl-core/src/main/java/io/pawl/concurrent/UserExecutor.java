package io.pawl.concurrent;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs users' code: on the executor that they chose, else on as many daemon threads as there are
 * pieces of it at a time, so that one that blocks delays no other. It never drops a task: what the
 * chosen executor rejects runs on a thread of Pawl's.
 */
record UserExecutor(@Nullable Executor chosen, Pool own) implements Executor {

  private static final Logger log = LoggerFactory.getLogger(UserExecutor.class);

  @Override
  public void execute(Runnable task) {
    if (chosen != null) {
      try {
        chosen.execute(task);
        return;
      } catch (Throwable e) { // checked ones too: other languages throw them undeclared
        UserFailures.log(
            e,
            failure ->
                log.warn(
                    "the executor of PawlOptions rejected a task; a thread of Pawl's runs it",
                    failure));
      }
    }
    own.execute(task);
  }
}
