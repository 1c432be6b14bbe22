package io.pawl.bench.contest;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.pawl.bench.rival.JetcdLocks;
import java.util.concurrent.atomic.AtomicInteger;

/** All on one etcd lease, the cheapest way to hold different locks. */
final class HeldByJetcd extends Held {

  private final String address;
  private final Client etcd;
  private final JetcdLocks.KeptLease lease;
  private final ByteSequence[] keys;

  HeldByJetcd(String address, int locks) {
    this.address = address;
    this.etcd = JetcdLocks.connected(address);
    this.lease = new JetcdLocks.KeptLease(etcd, JetcdLocks.USUAL_LEASE);
    this.keys = new ByteSequence[locks];
  }

  @Override
  void take() throws InterruptedException {
    each(
        keys.length,
        i ->
            etcd.getLockClient()
                .lock(JetcdLocks.key(address, name(i)), lease.id())
                .thenAccept(taken -> keys[i] = taken.getKey()));
  }

  @Override
  double lost() {
    return Double.NaN;
  }

  @Override
  int invalid() throws InterruptedException {
    AtomicInteger invalid = new AtomicInteger();
    each(
        keys.length,
        i ->
            etcd.getKVClient()
                .get(keys[i])
                .thenAccept(found -> invalid.addAndGet(found.getCount() == 1 ? 0 : 1)));
    return invalid.get();
  }

  @Override
  double renewalAgeSeconds() {
    return Double.NaN;
  }

  @Override
  void release() throws InterruptedException {
    each(keys.length, i -> etcd.getLockClient().unlock(keys[i]));
  }

  @Override
  public void close() {
    lease.close();
    etcd.close();
  }
}
