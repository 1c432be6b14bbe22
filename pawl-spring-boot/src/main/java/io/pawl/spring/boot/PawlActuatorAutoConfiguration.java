package io.pawl.spring.boot;

import io.pawl.Pawl;
import io.pawl.spi.LockStore;
import io.pawl.spring.JobState;
import io.pawl.spring.LockAdvisor;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.ApplicationContext;
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

    /** A child has one of its own, since its parent's does not see its jobs. */
    @Bean
    @ConditionalOnMissingBean(name = "pawlHealthIndicator", ignored = PawlHealthIndicator.class)
    PawlHealthIndicator pawlHealthIndicator(Pawl pawl, ApplicationContext application) {
      return new PawlHealthIndicator(pawl, () -> jobs(application));
    }

    private static List<JobState> jobs(ApplicationContext application) {
      return Stream.iterate(application, Objects::nonNull, ApplicationContext::getParent)
          .flatMap(each -> each.getBeansOfType(LockAdvisor.class).values().stream())
          .flatMap(advisor -> advisor.jobs().stream())
          .toList();
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
