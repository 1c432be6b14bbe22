package io.pawl.spring.boot;

import io.pawl.LockSnapshot;
import io.pawl.error.StoreException;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/** {@link PawlEndpoint} with the status that HTTP has for what can go wrong. */
@EndpointWebExtension(endpoint = PawlEndpoint.class)
final class PawlWebEndpoint {

  private static final int NOT_IMPLEMENTED = 501;

  private final PawlEndpoint endpoint;

  PawlWebEndpoint(PawlEndpoint endpoint) {
    this.endpoint = endpoint;
  }

  @ReadOperation
  WebEndpointResponse<Object> overview(@Nullable Integer limit) {
    return answer(() -> new WebEndpointResponse<>(endpoint.overview(limit)));
  }

  /** 404 for a lock that the store does not know. */
  @ReadOperation
  WebEndpointResponse<Object> show(@Selector(match = Selector.Match.ALL_REMAINING) String[] name) {
    return answer(
        () -> {
          LockSnapshot lock = endpoint.show(name);
          boolean known = lock.lastToken() > 0 || lock.isHeld() || !lock.waiters().isEmpty();
          return new WebEndpointResponse<>(
              lock, known ? WebEndpointResponse.STATUS_OK : WebEndpointResponse.STATUS_NOT_FOUND);
        });
  }

  /** 404 where no hold has this token. */
  @DeleteOperation
  WebEndpointResponse<Object> evict(
      @Selector(match = Selector.Match.ALL_REMAINING) String[] name, long token) {
    return answer(
        () -> {
          PawlEndpoint.Eviction eviction = endpoint.evict(name, token);
          return new WebEndpointResponse<>(
              eviction,
              eviction.evicted()
                  ? WebEndpointResponse.STATUS_OK
                  : WebEndpointResponse.STATUS_NOT_FOUND);
        });
  }

  private static WebEndpointResponse<Object> answer(Supplier<WebEndpointResponse<Object>> body) {
    try {
      return body.get();
    } catch (StoreException e) {
      return failure("the store does not answer", WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
    } catch (IllegalArgumentException e) {
      return failure(String.valueOf(e.getMessage()), WebEndpointResponse.STATUS_BAD_REQUEST);
    } catch (UnsupportedOperationException e) {
      return failure(String.valueOf(e.getMessage()), NOT_IMPLEMENTED);
    }
  }

  private static WebEndpointResponse<Object> failure(String error, int status) {
    return new WebEndpointResponse<>(Map.of("error", error), status);
  }
}
