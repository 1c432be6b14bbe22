package io.pawl.spring.boot;

import io.pawl.Pawl;
import io.pawl.spi.LockStore;
import io.pawl.spring.LockAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Health and the endpoint {@code pawl}. */
@AutoConfiguration(after = PawlAutoConfiguration.class)
@ConditionalOnBean(Pawl.class)
public final class PawlActuatorAutoConfiguration {

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
  @ConditionalOnEnabledHealthIndicator("pawl")
  static class OfHealth {

    @Bean
    @ConditionalOnMissingBean(name = "pawlHealthIndicator")
    PawlHealthIndicator pawlHealthIndicator(Pawl pawl, ObjectProvider<LockAdvisor> annotations) {
      return new PawlHealthIndicator(
          pawl, () -> annotations.stream().flatMap(each -> each.jobs().stream()).toList());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
  @ConditionalOnAvailableEndpoint(PawlEndpoint.class)
  static class OfEndpoint {

    @Bean
    PawlEndpoint pawlEndpoint(Pawl pawl, ObjectProvider<LockStore> store) {
      return new PawlEndpoint(pawl, store.getIfUnique());
    }

    @Bean
    @ConditionalOnAvailableEndpoint(endpoint = PawlEndpoint.class, exposure = EndpointExposure.WEB)
    PawlWebEndpoint pawlWebEndpoint(PawlEndpoint endpoint) {
      return new PawlWebEndpoint(endpoint);
    }
  }
}
