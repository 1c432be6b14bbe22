package io.pawl.spring;

import io.pawl.DistributedLock;
import io.pawl.LockGroup;
import io.pawl.Pawl;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a call of a method asks for. */
sealed interface LockRequest {

  LockedMethod method();

  Pawl client();

  Duration waitAtMost();

  /** The locks' names, in their order. */
  List<String> names();

  default LockNotAcquiredException busy() {
    return notAcquired(null);
  }

  default LockNotAcquiredException notAcquired(@Nullable InterruptedException cause) {
    return new LockNotAcquiredException(names(), waitAtMost(), cause);
  }

  /** One lock. */
  record One(LockedMethod method, Pawl client, DistributedLock lock, Duration waitAtMost)
      implements LockRequest {

    @Override
    public List<String> names() {
      return List.of(lock.name());
    }
  }

  /** Several locks, all or none. */
  record Several(LockedMethod method, Pawl client, LockGroup group, Duration waitAtMost)
      implements LockRequest {

    @Override
    public List<String> names() {
      return group.names();
    }
  }
}
