package io.pawl.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.tracing.Span;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.pawl.Lease;
import io.pawl.LockSnapshot;
import io.pawl.Pawl;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two clients on one Redis, whose traces go to OpenTelemetry's exporter in memory. */
class LockSpansTest {

  private static final Executor OWN_THREAD = task -> new Thread(task).start();
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SOON = Duration.ofMillis(20);
  private static final AttributeKey<String> GROUP = AttributeKey.stringKey("group");
  private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("outcome");

  private static RedisServer server;

  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final SdkTracerProvider provider =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();
  private final Tracer tracer =
      new OtelTracer(provider.get("test"), new OtelCurrentTraceContext(), event -> {});
  private final LockSpans here = spans();
  private final LockSpans there = spans();
  private final Pawl holder = client(here);
  private final Pawl waiter = client(there);

  @BeforeAll
  static void startServer() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  private LockSpans spans() {
    return new LockSpans(tracer, LockGroups.byBeginning(), SOON, System::nanoTime);
  }

  private static Pawl client(LockSpans observer) {
    Pawl pawl = Pawl.connect(server.url(), PawlOptions.defaults().observer(observer));
    observer.lookAt(pawl);
    return pawl;
  }

  @AfterEach
  void close() {
    holder.close(Duration.ZERO);
    waiter.close(Duration.ZERO);
    here.close();
    there.close();
    provider.close();
  }

  /** Runs the body within a span of its own. */
  private <T> T within(String name, java.util.concurrent.Callable<T> body) {
    Span span = tracer.nextSpan().name(name).start();
    try (Tracer.SpanInScope scope = tracer.withSpan(span)) {
      return body.call();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    } finally {
      span.end();
    }
  }

  private SpanData span(String name) {
    return spans.getFinishedSpanItems().stream()
        .filter(span -> span.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** Of the request that is in that span. */
  private SpanData waitOf(String request) {
    String id = span(request).getSpanId();
    return allOf("pawl.lock.wait").stream()
        .filter(wait -> wait.getParentSpanId().equals(id))
        .findFirst()
        .orElseThrow();
  }

  private List<SpanData> allOf(String name) {
    return spans.getFinishedSpanItems().stream()
        .filter(span -> span.getName().equals(name))
        .toList();
  }

  /** Until the client that waits has found out who holds the lock. */
  private void awaitSeen(LockSpans client, String lock, String holder) {
    String id = span(holder).getSpanId();
    await()
        .until(
            () ->
                client.holdersSeen(lock, LONG).stream().anyMatch(seen -> seen.spanId().equals(id)));
  }

  @Test
  void theSpanOfAWaitIsLinkedToTheTraceThatHeldTheLockElsewhere() throws Exception {
    String lock = "orders:1";
    Lease held = within("holding request", () -> holder.lock(lock).acquire());
    CompletableFuture<Lease> granted =
        CompletableFuture.supplyAsync(
            () -> within("slow request", () -> waiter.lock(lock).acquire()), OWN_THREAD);
    awaitSeen(there, lock, "holding request");

    held.close();
    Lease second = granted.get(1, TimeUnit.MINUTES);

    SpanData slow = span("slow request");
    SpanData wait = waitOf("slow request");
    SpanData cause = span("holding request");
    assertThat(wait.getTraceId()).isEqualTo(slow.getTraceId());
    assertThat(wait.getAttributes().get(GROUP)).isEqualTo("orders");
    assertThat(wait.getAttributes().get(OUTCOME)).isEqualTo("granted");
    assertThat(wait.getEndEpochNanos() - wait.getStartEpochNanos()).isPositive();
    assertThat(wait.getLinks())
        .extracting(LinkData::getSpanContext)
        .singleElement()
        .satisfies(
            link -> {
              assertThat(link.getTraceId()).isEqualTo(cause.getTraceId());
              assertThat(link.getSpanId()).isEqualTo(cause.getSpanId());
            });
    second.close();
  }

  @Test
  void theSpanOfAHoldIsPartOfTheTraceThatTookTheLockThoughAnotherThreadClosesIt() {
    Lease lease = within("request", () -> holder.lock("orders:2").acquire());
    CompletableFuture.runAsync(lease::close, OWN_THREAD).join();

    SpanData hold = span("pawl.lock.hold");
    assertThat(hold.getParentSpanId()).isEqualTo(span("request").getSpanId());
    assertThat(hold.getAttributes().get(OUTCOME)).isEqualTo("released");
    assertThat(allOf("pawl.lock.wait")).allMatch(wait -> wait.getLinks().isEmpty());
  }

  @Test
  void aLossEndsTheSpanOfItsHold() {
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(150));
    Lease lease =
        within("request", () -> holder.lock("orders:3", options.renewal(false)).acquire());

    await().until(() -> !lease.isValid());
    await().until(() -> !allOf("pawl.lock.hold").isEmpty());
    SpanData hold = span("pawl.lock.hold");
    assertThat(hold.getAttributes().get(OUTCOME)).isEqualTo("lost");
    assertThat(hold.getAttributes().get(AttributeKey.stringKey("reason"))).isEqualTo("expired");
  }

  @Test
  void aLossThatComesWhileTheGrantIsToldEndsTheSpanOfItsHoldToo() {
    AtomicReference<LockSpans> told = new AtomicReference<>();
    AtomicBoolean lost = new AtomicBoolean();
    LockGroups losing =
        lock -> {
          if (lost.compareAndSet(false, true)) {
            told.get().lost(lock, 1, "its deadline passed");
          }
          return "orders";
        };
    try (LockSpans observer = new LockSpans(tracer, losing)) {
      told.set(observer);
      within(
          "request",
          () -> {
            observer.acquired("orders:1", 1, LONG, false);
            return null;
          });
    }
    assertThat(span("pawl.lock.hold").getAttributes().get(OUTCOME)).isEqualTo("lost");
  }

  /** An observer that stands before it, or a pause, keeps the thread for longer than the lease. */
  @Test
  void aLossThatIsToldBeforeTheGrantEndsTheSpanOfItsHoldToo() {
    CompletableFuture<Void> lost = new CompletableFuture<>();
    LockObserver slow =
        new LockObserver() {
          @Override
          public void acquired(String lock, long token, Duration waited, boolean passed) {
            lost.orTimeout(1, TimeUnit.MINUTES).join();
            here.acquired(lock, token, waited, passed);
          }

          @Override
          public void lost(String lock, long token, String why) {
            here.lost(lock, token, why);
            lost.complete(null);
          }
        };
    LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(150)).renewal(false);
    try (Pawl pawl = Pawl.connect(server.url(), PawlOptions.defaults().observer(slow))) {
      within("request", () -> pawl.lock("orders:8", options).acquire());
    }
    assertThat(span("pawl.lock.hold").getAttributes().get(OUTCOME)).isEqualTo("lost");
  }

  @Test
  void aWaiterOfTheSameClientIsLinkedToTheThreadThatHasTheLockNotToTheFirstOfARun() {
    String lock = "orders:4";
    LockOptions options =
        LockOptions.defaults().localPassing(100, Duration.ofSeconds(1)).lease(LONG);
    Lease first = within("first", () -> holder.lock(lock, options).acquire());
    CompletableFuture<Lease> second = asked("second", lock, options);
    awaitSeen(here, lock, "first");
    first.close();
    Lease passed = second.join();
    CompletableFuture<Lease> third = asked("third", lock, options);
    awaitSeen(here, lock, "second");

    passed.close();
    third.join().close();

    assertThat(waitOf("third").getLinks())
        .extracting(link -> link.getSpanContext().getSpanId())
        .containsExactly(span("second").getSpanId());
  }

  private CompletableFuture<Lease> asked(String name, String lock, LockOptions options) {
    return CompletableFuture.supplyAsync(
        () -> within(name, () -> holder.lock(lock, options).acquire()), OWN_THREAD);
  }

  @Test
  void aRequestTellsOthersOfItsTraceBesideItsNote() {
    LockOptions options = LockOptions.defaults().note("nightly");
    Lease lease = within("request", () -> holder.lock("orders:5", options).acquire());
    SpanData request = span("request");

    assertThat(waiter.inspect("orders:5").holders())
        .extracting(LockSnapshot.Claimant::note)
        .containsExactly(
            "nightly traceparent=00-" + request.getTraceId() + "-" + request.getSpanId() + "-01");
    lease.close();
  }

  @Test
  void aThreadWithoutASpanLeavesNone() throws Exception {
    try (Lease lease = holder.lock("orders:6").acquire()) {
      assertThat(waiter.inspect("orders:6").holders())
          .extracting(LockSnapshot.Claimant::note)
          .containsExactly("");
    }
    assertThat(spans.getFinishedSpanItems()).isEmpty();
  }

  /** As where tracing is on the class path and turned off. */
  @Test
  void aTracerWithoutTracesLeavesNoNote() {
    try (LockSpans none = new LockSpans(Tracer.NOOP)) {
      assertThat(none.noteFor("orders:8")).isEmpty();
    }
  }

  @Test
  void aRequestThatGivesUpHasASpanToo() throws Exception {
    waiter.lock("other").acquire().close(); // a cold JVM's first answer takes its time
    try (Lease lease = holder.lock("orders:7").acquire()) {
      Optional<Lease> refused =
          within("request", () -> waiter.lock("orders:7").tryAcquire(Duration.ofSeconds(1)));
      assertThat(refused).isEmpty();
    }
    SpanData wait = waitOf("request");
    assertThat(wait.getAttributes().get(OUTCOME)).isEqualTo("refused");
    assertThat(wait.getLinks()).isEmpty(); // the holder has no trace
  }

  @Test
  void whatIsNoTraceIsNotTakenForOne() {
    assertThat(TraceNote.parsed("")).isNull();
    assertThat(TraceNote.parsed("traceparent=00-zz-1-01")).isNull();
    String text = "traceparent=00-" + "a".repeat(32) + "-" + "b".repeat(16) + "-01";
    assertThat(Objects.requireNonNull(TraceNote.parsed("job " + text)).toString()).isEqualTo(text);
  }
}
