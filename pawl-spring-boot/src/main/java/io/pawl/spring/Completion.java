package io.pawl.spring;

import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.springframework.core.KotlinDetector;

/** When a method has ended, by what it returns. */
enum Completion {
  RETURNED,
  STAGE,
  MONO,
  FLUX;

  /**
   * @throws IllegalStateException for a result whose end nobody would hear of
   */
  static Completion of(Method method) {
    Class<?> type = method.getReturnType();
    if (type == CompletionStage.class || type == CompletableFuture.class) {
      return STAGE;
    }
    if (type.getName().equals("reactor.core.publisher.Mono")) {
      return MONO;
    }
    if (type.getName().equals("reactor.core.publisher.Flux")) {
      return FLUX;
    }
    if (Future.class.isAssignableFrom(type)
        || CompletionStage.class.isAssignableFrom(type)
        || type.getName().startsWith("org.reactivestreams.")
        || type.getName().startsWith("java.util.concurrent.Flow")
        || KotlinDetector.isSuspendingFunction(method)) {
      throw new IllegalStateException(
          method
              + " goes on after it has returned, and its lock would not; return a"
              + " CompletableFuture, a CompletionStage, a Mono or a Flux");
    }
    return RETURNED;
  }
}
