package io.pawl.spring;

import io.pawl.GroupLease;
import io.pawl.LockGroup;
import io.pawl.error.LeaseLostException;
import java.time.Duration;
import java.util.Optional;

/** A body that runs under several locks, as the client runs one under a single lock. */
final class GroupCall {

  private GroupCall() {}

  /**
   * @param <T> what the body returns
   */
  interface Body<T> {
    T run(GroupLease lease) throws Exception;
  }

  /**
   * Returns the body's result, empty where a lock stayed busy.
   *
   * @throws LeaseLostException where a lock was lost; suppressed in an exception of the body
   */
  static <T> Optional<T> of(LockGroup group, Duration waitAtMost, Body<T> body) throws Exception {
    Optional<GroupLease> granted = group.tryAcquire(waitAtMost);
    if (granted.isEmpty()) {
      return Optional.empty();
    }
    GroupLease lease = granted.get();
    T result;
    try {
      lease.ensureValid(); // this thread may have stood still since the grant
      result = body.run(lease);
    } catch (Exception | Error e) {
      close(lease, e);
      throw e;
    }
    lease.close();
    return Optional.of(result);
  }

  private static void close(GroupLease lease, Throwable failure) {
    try {
      lease.close();
    } catch (LeaseLostException lost) {
      if (!(failure instanceof LeaseLostException)) {
        failure.addSuppressed(lost);
      }
    }
  }
}
