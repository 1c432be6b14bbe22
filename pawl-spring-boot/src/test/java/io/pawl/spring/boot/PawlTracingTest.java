package io.pawl.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.pawl.LockSnapshot;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.micrometer.LockSpans;
import io.pawl.spi.LockStore;
import io.pawl.spring.Locked;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class PawlTracingTest {

  private final SdkTracerProvider provider = SdkTracerProvider.builder().build();
  private final Tracer tracer =
      new OtelTracer(provider.get("test"), new OtelCurrentTraceContext(), event -> {});
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  AopAutoConfiguration.class,
                  PawlAutoConfiguration.class,
                  LockedAutoConfiguration.class,
                  PawlTracingAutoConfiguration.class))
          .withPropertyValues("pawl.url=memory:");

  @AfterEach
  void close() {
    provider.close();
  }

  static class Shop {

    private final Pawl pawl;

    Shop(Pawl pawl) {
      this.pawl = pawl;
    }

    @Locked("orders")
    public List<String> notes() {
      return pawl.inspect("orders").holders().stream().map(LockSnapshot.Claimant::note).toList();
    }
  }

  @Test
  void aCallTellsOthersOfItsTraceWhereTheApplicationHasATracer() {
    application
        .withBean(Tracer.class, () -> tracer)
        .withBean(Shop.class)
        .run(
            context -> {
              Span span = tracer.nextSpan().name("request").start();
              try (Tracer.SpanInScope scope = tracer.withSpan(span)) {
                assertThat(context.getBean(Shop.class).notes())
                    .singleElement()
                    .asString()
                    .contains(span.context().traceId(), span.context().spanId());
              }
              span.end();
            });
  }

  @Test
  void aLazyApplicationWithATracerDoesNotOpenItsStoreAtTheStart() {
    AtomicInteger opened = new AtomicInteger();
    application
        .withInitializer(
            context ->
                context.addBeanFactoryPostProcessor(
                    new LazyInitializationBeanFactoryPostProcessor()))
        .withBean(Tracer.class, () -> tracer)
        .withBean(
            LockStore.class,
            () -> {
              opened.incrementAndGet();
              return new MemoryStore();
            })
        .withBean(Shop.class)
        .run(
            context -> {
              assertThat(opened).hasValue(0);
              context.getBean(Shop.class).notes();
              assertThat(opened).hasValue(1);
            });
  }

  @Test
  void withoutATracerOrWhereItIsSwitchedOffThereAreNoSpans() {
    application.run(context -> assertThat(context).doesNotHaveBean(LockSpans.class));
    application
        .withBean(Tracer.class, () -> tracer)
        .withPropertyValues("pawl.tracing.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(LockSpans.class));
  }
}
