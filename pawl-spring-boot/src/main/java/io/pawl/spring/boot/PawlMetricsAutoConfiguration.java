package io.pawl.spring.boot;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.pawl.Pawl;
import io.pawl.micrometer.LockGroups;
import io.pawl.micrometer.LockMeters;
import io.pawl.micrometer.StoreMeters;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Meters of the application's client. A bean of type {@link LockGroups} groups locks in another way
 * than by the beginning of their names.
 */
@AutoConfiguration(
    after = PawlAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure"
          + ".CompositeMeterRegistryAutoConfiguration"
    })
@ConditionalOnClass(
    name = {"io.pawl.micrometer.LockMeters", "io.micrometer.core.instrument.MeterRegistry"})
@ConditionalOnBean(type = {"io.pawl.Pawl", "io.micrometer.core.instrument.MeterRegistry"})
public final class PawlMetricsAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  LockMeters pawlLockMeters(MeterRegistry registry, ObjectProvider<LockGroups> groups) {
    return new LockMeters(registry, groups.getIfAvailable(LockGroups::byBeginning), Tags.empty());
  }

  @Bean
  @ConditionalOnMissingBean
  StoreMeters pawlStoreMeters(Pawl pawl) {
    return new StoreMeters(pawl);
  }
}
