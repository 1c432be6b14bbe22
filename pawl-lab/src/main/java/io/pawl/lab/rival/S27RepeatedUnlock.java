package io.pawl.lab.rival;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.PawlSteps;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;
import java.util.concurrent.CompletableFuture;

/** An unlock is sent again after its reply was lost, and ends the same client's next hold. */
public final class S27RepeatedUnlock implements Specimen {

  private static final long LEASE_SECONDS = 60;

  @Override
  public String id() {
    return "S27";
  }

  @Override
  public String title() {
    return Versions.of("jetcd", Client.class) + ": lock API, an unlock that is repeated";
  }

  @Override
  public String origin() {
    return "Jepsen on jetcd 0.8.2, jetcd #1383, etcd #22082: a key stands for any hold of a lease.";
  }

  @Override
  public Service service() {
    return Service.ETCD;
  }

  @Override
  public Finding play(Stage stage) throws Exception {
    Trace trace = stage.trace();
    ByteSequence lock = ByteSequence.from(stage.name(), UTF_8);
    Client a = client(stage);
    Client b = client(stage);
    long leaseOfA = stage.get(a.getLeaseClient().grant(LEASE_SECONDS)).getID();
    long leaseOfB = stage.get(b.getLeaseClient().grant(LEASE_SECONDS)).getID();
    ByteSequence first = stage.get(a.getLockClient().lock(lock, leaseOfA)).getKey();
    trace.holds("A", "lock");
    stage.get(a.getLockClient().unlock(first));
    trace.ends("A", "unlock; suppose that the reply is lost");
    ByteSequence second = stage.get(a.getLockClient().lock(lock, leaseOfA)).getKey();
    trace.holds("A", "lock again: " + (second.equals(first) ? "the same key" : "another key"));
    CompletableFuture<ByteSequence> waiting =
        b.getLockClient().lock(lock, leaseOfB).thenApply(it -> it.getKey());
    trace.step("B", "lock → waits");
    stage.get(a.getLockClient().unlock(first));
    trace.fault("A", "the first unlock arrives once more, as a retry sends it");
    if (stage.holdsWithin(Stage.SLACK, waiting::isDone)) {
      trace.holds("B", "granted");
    }
    trace.writes("A", "writes");
    return Finding.twoHolders(
        trace, "the repeated unlock of A's first hold ends its second, and B holds beside it");
  }

  private static Client client(Stage stage) {
    Client client = Client.builder().endpoints(stage.ground().etcd().endpoint()).build();
    stage.own(client::close);
    return client;
  }

  @Override
  public Finding pawl(Stage stage) throws Exception {
    Trace trace = stage.trace();
    Pawl pawl = stage.pawl(service());
    Lease first = pawl.lock(stage.name(), Stage.renewedLease()).acquire();
    stage.holds("A", "acquire", first);
    first.close();
    trace.ends("A", "close");
    Lease second = pawl.lock(stage.name(), Stage.renewedLease()).acquire();
    stage.holds("A", "acquire again", second);
    first.close();
    trace.fault("A", "closes its first lease once more");
    boolean refused = PawlSteps.isRefusedFor(stage, stage.pawl(service()), "B", Stage.LONGER);
    return refused && second.isValid()
        ? Finding.standsUnlessShared(
            trace, "each hold is a claim with an id of its own; B is refused", "witness")
        : new Finding(Verdict.TWO_HOLDERS, "a repeated close ended another hold", "isValid");
  }
}
