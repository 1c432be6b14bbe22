package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.reactivex.rxjava3.core.Single;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.SubmissionPublisher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Processor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Annotations that could not do what they say. */
class LockedRefusalTest {

  static class PrivateMethod {
    @Locked("orders")
    public void first() {}

    @Locked("orders")
    private void run() {}

    boolean uses() {
      run();
      return true;
    }
  }

  static class StaticMethod {
    @Locked("orders")
    public void first() {}

    @Locked("orders")
    public static void run() {}
  }

  static class FinalMethod {
    @Locked("orders")
    public final void run() {}
  }

  static class BareExpression {
    @Locked("'orders:' + #id")
    public void run(long id) {}
  }

  static class NoName {
    @Locked(lease = "1s")
    public void run() {}
  }

  static class TooShort {
    @Locked(name = "orders", lease = "1ms")
    public void run() {}
  }

  static class NegativeWait {
    @Locked(name = "orders", waitAtMost = "-1s")
    public void run() {}
  }

  static class TooLongShortestHold {
    @ScheduledOnce(name = "nightly", minHold = "8d")
    public void run() {}
  }

  static class NoTimeToRun {
    @ScheduledOnce(name = "nightly", maxRun = "0s")
    public void run() {}
  }

  static class AlwaysOverdue {
    @ScheduledOnce(name = "nightly", overdueAfter = "0s")
    public void run() {}
  }

  static class PlainFuture {
    @Locked("orders")
    public Future<String> run() {
      return CompletableFuture.completedFuture("");
    }
  }

  static class SkippedNumber {
    @Locked(name = "orders", onBusy = OnBusy.SKIP)
    public int run() {
      return 1;
    }
  }

  static class FencedStage {
    @Locked(name = "orders", fenced = true)
    public CompletableFuture<String> run() {
      return CompletableFuture.completedFuture("");
    }
  }

  static class OnceWithResult {
    @ScheduledOnce("nightly")
    public int run() {
      return 1;
    }
  }

  static class TwoLocks {
    @LockedTest.OneAtATime("first")
    @Locked("second")
    public void run() {}
  }

  static class PublisherOfTheJdk {
    @Locked("orders")
    public SubmissionPublisher<String> run() {
      return new SubmissionPublisher<>();
    }
  }

  static class AnotherPublisher {
    @Locked("orders")
    public Processor<String, String> run() {
      throw new UnsupportedOperationException();
    }
  }

  static class SingleOfRxJava {
    @Locked("orders")
    public Single<String> run() {
      return Single.just("");
    }
  }

  static class NoFallback {
    @Locked(name = "orders", fallback = "instead")
    public String run(long id) {
      return "";
    }

    String instead(String id) {
      return id;
    }
  }

  static class FallbackOfAnotherResult {
    @Locked(name = "orders", fallback = "instead")
    public String run(long id) {
      return "";
    }

    long instead(long id) {
      return id;
    }
  }

  static class SkippedWithFallback {
    @Locked(name = "orders", onBusy = OnBusy.SKIP, fallback = "instead")
    public void run() {}

    void instead() {}
  }

  static class NameAndNames {
    @Locked(
        name = "orders",
        names = {"a", "b"})
    public void run() {}
  }

  static class SharedGroup {
    @Locked(
        names = {"a", "b"},
        shared = true)
    public void run() {}
  }

  static class StageOfSeveral {
    @Locked(names = {"a", "b"})
    public CompletableFuture<String> run() {
      return CompletableFuture.completedFuture("");
    }
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        PrivateMethod.class,
        StaticMethod.class,
        FinalMethod.class,
        BareExpression.class,
        NoName.class,
        TooShort.class,
        NegativeWait.class,
        TooLongShortestHold.class,
        NoTimeToRun.class,
        AlwaysOverdue.class,
        PlainFuture.class,
        SkippedNumber.class,
        FencedStage.class,
        OnceWithResult.class,
        TwoLocks.class,
        PublisherOfTheJdk.class,
        AnotherPublisher.class,
        SingleOfRxJava.class,
        NoFallback.class,
        FallbackOfAnotherResult.class,
        SkippedWithFallback.class,
        NameAndNames.class,
        SharedGroup.class,
        StageOfSeveral.class
      })
  void whatCouldNotDoWhatItSaysIsRefusedAtTheStart(Class<?> bean) {
    ApplicationContextRunner application = TestClients.application().withBean(bean);
    application.run(context -> assertThat(context).hasFailed());
  }

  @ParameterizedTest
  @ValueSource(strings = {"lease=1ms", "lease=8d", "wait-at-most=-1s"})
  void timesOfAllMethodsThatCannotBeAreRefusedAtTheStart(String property) {
    TestClients.application()
        .withPropertyValues("pawl.locked." + property)
        .run(context -> assertThat(context).hasFailed());
  }

  @Test
  void whatIsRefusedOnceIsRefusedAgain() {
    TestClients.application()
        .withBean(PrivateMethod.class, PrivateMethod::new, bean -> bean.setScope("prototype"))
        .run(
            context -> {
              for (int times = 0; times < 2; times++) {
                assertThatThrownBy(() -> context.getBean(PrivateMethod.class))
                    .hasStackTraceContaining("private");
              }
            });
  }

  /** Such as those of the JDK. */
  @Test
  void aNameByParameterOfAClassWithoutTheirNamesSaysWhatIsMissing() throws Exception {
    Method method = List.class.getMethod("get", int.class);
    NameTemplate name =
        new NameTemplate("item:#{#index}", method, new DefaultListableBeanFactory());
    assertThatThrownBy(() -> name.of(List.of(), new Object[] {1}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-parameters");
  }
}
