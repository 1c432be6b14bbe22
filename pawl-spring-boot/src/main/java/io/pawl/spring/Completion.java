package io.pawl.spring;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.springframework.core.KotlinDetector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

/** When a method has ended, by what it returns. */
enum Completion {
  RETURNED,
  /** When its stage has completed, for which the thread of an asynchronous method waits anyway. */
  AWAITED,
  STAGE,
  MONO,
  FLUX;

  /** Of others' libraries; by name, since Spring's registry of them loads hundreds of classes. */
  private static final Set<String> GO_ON =
      Set.of(
          "org.reactivestreams.Publisher",
          "io.reactivex.rxjava3.core.CompletableSource",
          "io.reactivex.rxjava3.core.MaybeSource",
          "io.reactivex.rxjava3.core.ObservableSource",
          "io.reactivex.rxjava3.core.SingleSource",
          "io.smallrye.mutiny.Uni",
          "kotlinx.coroutines.Job",
          "kotlinx.coroutines.flow.Flow");

  /**
   * @throws IllegalStateException for a result whose end nobody would hear of
   */
  static Completion of(Method method) {
    Class<?> type = method.getReturnType();
    if (type == CompletionStage.class || type == CompletableFuture.class) {
      return isAsync(method) ? AWAITED : STAGE;
    }
    if (type.getName().equals("reactor.core.publisher.Mono")) {
      return MONO;
    }
    if (type.getName().equals("reactor.core.publisher.Flux")) {
      return FLUX;
    }
    if (goesOn(type) || KotlinDetector.isSuspendingFunction(method)) {
      throw new IllegalStateException(
          method
              + " goes on after it has returned, and its lock would not; return a"
              + " CompletableFuture, a CompletionStage, a Mono or a Flux");
    }
    return RETURNED;
  }

  static boolean isAsync(Method method) {
    return AnnotatedElementUtils.hasAnnotation(method, Async.class)
        || AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class);
  }

  /** As Spring decides it, which looks at the bean's class too: it may inherit the method. */
  static boolean isAsync(Method method, Class<?> type) {
    return isAsync(method) || AnnotatedElementUtils.hasAnnotation(type, Async.class);
  }

  private static boolean goesOn(Class<?> type) {
    return Future.class.isAssignableFrom(type)
        || CompletionStage.class.isAssignableFrom(type)
        || Flow.Publisher.class.isAssignableFrom(type)
        || isOfAnotherLibrary(type);
  }

  private static boolean isOfAnotherLibrary(Class<?> type) {
    return GO_ON.contains(type.getName())
        || Stream.of(type.getInterfaces()).anyMatch(Completion::isOfAnotherLibrary)
        || type.getSuperclass() != null && isOfAnotherLibrary(type.getSuperclass());
  }
}
