package io.pawl.spring.boot;

import io.micrometer.tracing.Tracer;
import io.pawl.Pawl;
import io.pawl.micrometer.LockGroups;
import io.pawl.micrometer.LockSpans;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Spans of waits and holds, in the traces of the application. */
@AutoConfiguration(
    after = PawlAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration",
      "org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure"
          + ".OpenTelemetryTracingAutoConfiguration"
    })
@ConditionalOnClass(name = {"io.pawl.micrometer.LockSpans", "io.micrometer.tracing.Tracer"})
@ConditionalOnBean(type = {"io.pawl.Pawl", "io.micrometer.tracing.Tracer"})
@ConditionalOnBooleanProperty(name = "pawl.tracing.enabled", matchIfMissing = true)
public final class PawlTracingAutoConfiguration {

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  LockSpans pawlLockSpans(Tracer tracer, ObjectProvider<LockGroups> groups) {
    return new LockSpans(tracer, groups.getIfAvailable(LockGroups::byBeginning));
  }

  /** The client is made of its observers, so they hear of it later. */
  @Bean
  static BeanPostProcessor pawlSpansLookAtTheClient(ObjectProvider<LockSpans> spans) {
    return new BeanPostProcessor() {
      @Override
      public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof Pawl pawl) {
          spans.ifUnique(each -> each.lookAt(pawl));
        }
        return bean;
      }
    };
  }
}
