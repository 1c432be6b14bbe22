package io.pawl.spring.boot;

import io.pawl.spring.LockSettings;
import io.pawl.spring.OpenTransaction;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code pawl.*}.
 *
 * @param url URL of the store, such as redis://localhost. Unless set, the application's DataSource
 *     or its Redis has the locks.
 * @param store Which of the application's services has the locks if no URL is set.
 * @param createTables Whether tables that are missing in the application's DataSource are created.
 * @param application Name of the program, which others see as part of a holder. The name of the
 *     Spring application unless set.
 * @param patience How long an operation keeps trying a failing store before it throws.
 * @param shutdownGrace How long closing waits for holders to release their locks.
 * @param retention What this client lets its store forget.
 * @param locked What annotations do where they say nothing.
 */
@ConfigurationProperties("pawl")
public record PawlProperties(
    @Nullable String url,
    @DefaultValue("auto") StoreChoice store,
    @DefaultValue("true") boolean createTables,
    @Nullable String application,
    @DefaultValue("5s") Duration patience,
    @DefaultValue("5s") Duration shutdownGrace,
    @DefaultValue Retention retention,
    @DefaultValue Annotations locked) {

  /**
   * What this client lets its store forget.
   *
   * @param ledgers Age from which operations of counters are forgotten, at least 1 hour. Zero
   *     forgets none.
   * @param idleLocks Time without use after which locks are forgotten, at least 1 hour. Zero
   *     forgets none.
   */
  public record Retention(
      @DefaultValue("0s") Duration ledgers, @DefaultValue("0s") Duration idleLocks) {

    io.pawl.options.Retention asOption() {
      return new io.pawl.options.Retention(ledgers, idleLocks);
    }
  }

  /**
   * What annotations do where they say nothing.
   *
   * @param waitAtMost How long a call of a locked method waits for its lock.
   * @param lease How long others wait for a holder that died. A lease is renewed while its method
   *     runs.
   * @param openTransaction What becomes of a call of a locked method while a transaction is open.
   */
  public record Annotations(
      @DefaultValue("10s") Duration waitAtMost,
      @DefaultValue("30s") Duration lease,
      @DefaultValue("refuse") OpenTransaction openTransaction) {

    /** Checks them when the application starts. */
    public Annotations {
      new LockSettings(waitAtMost, lease, openTransaction);
    }

    LockSettings asSettings() {
      return new LockSettings(waitAtMost, lease, openTransaction);
    }
  }

  /** Without the URL, which may have a password. */
  @Override
  public String toString() {
    return "PawlProperties[store=" + store + ", locked=" + locked + "]";
  }
}
