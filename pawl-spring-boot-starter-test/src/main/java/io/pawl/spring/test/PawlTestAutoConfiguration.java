package io.pawl.spring.test;

import io.pawl.Pawl;
import io.pawl.spi.LockStore;
import io.pawl.spring.boot.PawlAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Locks in memory in place of those that {@code pawl.url} names. */
@AutoConfiguration(before = PawlAutoConfiguration.class)
@ConditionalOnBooleanProperty(name = "pawl.test.memory", matchIfMissing = true)
@ConditionalOnMissingBean({Pawl.class, LockStore.class})
public final class PawlTestAutoConfiguration {

  @Bean
  LosableStore pawlTestStore() {
    return new LosableStore();
  }

  @Bean
  TestLocks pawlTestLocks(LosableStore store) {
    return new TestLocks(store);
  }
}
