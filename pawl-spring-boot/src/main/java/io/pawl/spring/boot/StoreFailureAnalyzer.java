package io.pawl.spring.boot;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to do about a store that cannot be opened. */
final class StoreFailureAnalyzer extends AbstractFailureAnalyzer<StoreException> {

  @Override
  protected FailureAnalysis analyze(Throwable root, StoreException cause) {
    return new FailureAnalysis(
        "Pawl cannot use its store: " + cause.getMessage(), action(cause), cause);
  }

  private static String action(StoreException cause) {
    if (cause instanceof StoreDeniedException) {
      return "Give the account of pawl.url, or of the application's DataSource or Redis, the rights"
          + " that docs/SQL.md or docs/REDIS.md lists.";
    }
    if (cause instanceof StoreConfigurationException) {
      return "Do what the description says, or name another store by pawl.url.";
    }
    return "Start the service, or correct pawl.url or the properties of the application's DataSource"
        + " or Redis.";
  }
}
