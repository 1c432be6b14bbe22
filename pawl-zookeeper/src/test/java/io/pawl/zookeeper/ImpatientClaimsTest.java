package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.zookeeper.Nodes.Queue;
import io.pawl.zookeeper.QueuedClaim.State;
import io.pawl.zookeeper.Requests.Created;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A claim that takes no place in the queue leaves as soon as it would have to wait. */
class ImpatientClaimsTest {

  /** What it waits for may go between the answer and its leaving. */
  @Test
  void p1_oneHolder_aClaimThatIsAboutToLeaveIsNotSaidToBeHeld() {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        Clock clock = new Clock()) {
      Settings settings =
          Settings.parse(StoreUrl.parse("zk://" + server.address() + ContractServers.PARAMETERS));
      QueuedClaims claims = new QueuedClaims(settings, clock, new Failures(settings.shown()));
      Seam seam = new Seam(null);
      Claim holder = seam.claim("lock");
      Seam.answer(claims.attempt(holder, standing -> {}));
      List<Standing> rung = new CopyOnWriteArrayList<>();
      Session session = claims.sessions().of(Seam.LEASE.toMillis());
      QueuedClaim leaving = new QueuedClaim(claims, seam.impatient("lock"), rung::add, session);
      stand(leaving);
      assertThat(Seam.answer(leaving.standing())).isInstanceOf(Standing.Waiting.class);

      Seam.answer(claims.withdraw(holder));

      await().until(leaving::isHeld);
      Seam.answer(session.ask().exists(leaving.lockPath())); // behind whatever rings
      assertThat(rung).isEmpty();
      claims.close();
    }
  }

  /** As it does when it joins, up to the answer. */
  private static void stand(QueuedClaim claim) {
    Created made = Seam.answer(claim.node().make(claim.claim().mode()));
    claim.placedAt(made.path(), made.stat());
    Queue queue = Seam.answer(claim.ask().queue(claim.lockPath()));
    claim.mutex.lock();
    try {
      int before = claim.node().before(queue);
      claim.lookout().begin(Kind.LOCK, queue.places().subList(0, before), 1, 0, false);
      claim.state = State.WAITING;
    } finally {
      claim.mutex.unlock();
    }
    Seam.answer(claim.lookout().evaluate());
  }
}
