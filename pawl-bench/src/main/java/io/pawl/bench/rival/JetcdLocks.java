package io.pawl.bench.rival;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.support.CloseableClient;
import io.grpc.stub.StreamObserver;
import io.pawl.bench.BenchException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * etcd's lock service by jetcd. A claim is known there by its name and lease, so each thread has a
 * lease of its own, which jetcd keeps alive.
 */
public final class JetcdLocks implements Rival {

  public static final String NAME = "jetcd Lock API";

  /** Pawl's own. */
  public static final Duration USUAL_LEASE = Duration.ofSeconds(30);

  private final Duration lease;

  /**
   * @param lease in whole seconds
   */
  public JetcdLocks(Duration lease) {
    this.lease = lease;
  }

  @Override
  public String name() {
    return NAME;
  }

  /**
   * @param address as Pawl has it: {@code etcd://hosts/namespace}
   */
  @Override
  public Rival.Client connect(String address) {
    io.etcd.jetcd.Client etcd = connected(address);
    return new Rival.Client() {
      @Override
      public Turn lock(String name) {
        return new LockTurn(etcd, key(address, name), new KeptLease(etcd, lease));
      }

      @Override
      public void close() {
        etcd.close();
      }
    };
  }

  /** A client of the members in {@code address}. */
  public static io.etcd.jetcd.Client connected(String address) {
    String[] endpoints =
        Stream.of(Hosts.of(address).split(",")).map("http://"::concat).toArray(String[]::new);
    return io.etcd.jetcd.Client.builder().endpoints(endpoints).build();
  }

  /** What the keys of the lock of this name begin with. */
  public static ByteSequence key(String address, String name) {
    return ByteSequence.from(Hosts.path(address) + "/" + name, UTF_8);
  }

  /** What the future brings, its failure as an exception of the bench. */
  public static <T> T await(Future<T> future) throws InterruptedException {
    try {
      return future.get();
    } catch (ExecutionException e) {
      throw new BenchException("etcd refused", e);
    }
  }

  /** A lease that is kept alive until it is closed. */
  public static final class KeptLease implements AutoCloseable {

    private final io.etcd.jetcd.Client etcd;
    private final long id;
    private final CloseableClient alive;

    public KeptLease(io.etcd.jetcd.Client etcd, Duration length) {
      this.etcd = etcd;
      try {
        this.id = await(etcd.getLeaseClient().grant(length.toSeconds())).getID();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new BenchException("interrupted", e);
      }
      this.alive = etcd.getLeaseClient().keepAlive(id, new Silent());
    }

    public long id() {
      return id;
    }

    @Override
    public void close() {
      alive.close();
      etcd.getLeaseClient().revoke(id);
    }
  }

  private static final class Silent implements StreamObserver<LeaseKeepAliveResponse> {

    @Override
    public void onNext(LeaseKeepAliveResponse kept) {}

    @Override
    public void onError(Throwable error) {}

    @Override
    public void onCompleted() {}
  }

  private static final class LockTurn implements Turn {

    private final io.etcd.jetcd.Client etcd;
    private final ByteSequence lock;
    private final KeptLease lease;
    private @Nullable ByteSequence held;

    LockTurn(io.etcd.jetcd.Client etcd, ByteSequence lock, KeptLease lease) {
      this.etcd = etcd;
      this.lock = lock;
      this.lease = lease;
    }

    @Override
    public long acquire() throws InterruptedException {
      held = await(etcd.getLockClient().lock(lock, lease.id())).getKey();
      return 0;
    }

    @Override
    public void release() {
      ByteSequence key = held;
      if (key == null) {
        return;
      }
      try {
        await(etcd.getLockClient().unlock(key));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new BenchException("interrupted", e);
      }
    }

    @Override
    public void close() {
      lease.close();
    }
  }
}
