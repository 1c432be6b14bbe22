package io.pawl.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nodes that Pawl did not write, among its own. */
class ForeignNodesTest {

  private static final int ATTEMPTS = 20;

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final ZooKeeperStore store =
      ZooKeeperStore.connect("zk://" + server.address() + ContractServers.PARAMETERS);
  private final Seam seam = new Seam(store);
  private final Claim claim = seam.claim("mine");
  private ZooKeeper raw;

  @BeforeEach
  void connect() throws Exception {
    raw = new ZooKeeper(server.address(), 10_000, event -> {});
    raw.addAuthInfo("digest", "some:body".getBytes(UTF_8));
    seam.take(claim);
  }

  @AfterEach
  void close() throws Exception {
    raw.close();
    store.close();
    server.close();
  }

  private void write(String path, String data, List<ACL> acl) throws Exception {
    raw.create(path, data.getBytes(UTF_8), acl, CreateMode.PERSISTENT);
  }

  private static List<ClaimId> ids(LockView view) {
    return Stream.concat(view.holders().stream(), view.waiters().stream())
        .map(ClaimView::id)
        .toList();
  }

  private void assertMineIsShown() {
    List<LockView> listed = Seam.answer(store.list(10));
    assertThat(listed).extracting(LockView::name).containsExactly("mine");
    assertThat(listed.get(0).holders()).extracting(ClaimView::id).contains(claim.id());
    LockView shown = Seam.answer(store.show("mine")).orElseThrow();
    assertThat(ids(shown)).isEqualTo(ids(listed.get(0)));
  }

  @Test
  void locksAreListedBesideNodesThatAreNone() throws Exception {
    write("/pawl/locks/foreign", "hello", Ids.OPEN_ACL_UNSAFE);
    write("/pawl/locks/%zz", "", Ids.OPEN_ACL_UNSAFE);
    write("/pawl/locks/closed", "kind=lock\n", Ids.CREATOR_ALL_ACL);

    assertMineIsShown();
    assertThatThrownBy(() -> Seam.answer(store.show("foreign")))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("/pawl/locks/foreign");
  }

  @Test
  void aLockIsShownAndServedBesideNodesThatAreNoClaims() throws Exception {
    write("/pawl/locks/mine/notes", "hello", Ids.OPEN_ACL_UNSAFE);
    write("/pawl/locks/mine/p0-a.1-1-0000000001", "", Ids.OPEN_ACL_UNSAFE);
    Claim next = seam.claim("mine");

    assertThat(seam.attempt(next)).isInstanceOf(Standing.Waiting.class);

    assertMineIsShown();
    seam.withdraw(claim);
    assertThat(seam.renew(next)).isInstanceOf(Standing.Held.class);
  }

  /** It keeps others out, as its name says, until somebody deletes it. */
  @Test
  void aClaimThatNobodyCanReadIsShownByItsName() throws Exception {
    String unreadable = "/pawl/locks/mine/w-somebody.1-1-0000000007";
    write(unreadable, "mode=none", Ids.OPEN_ACL_UNSAFE);

    LockView view = Seam.answer(store.show("mine")).orElseThrow();
    assertThat(view.holders()).extracting(ClaimView::id).containsExactly(claim.id());
    assertThat(view.waiters()).hasSize(1);
    assertMineIsShown();
  }

  /** What an attempt of permits watches is watched for nobody once the attempt has failed. */
  @Test
  void attemptsThatMayNotMakeTheirNodeLeaveMemory() throws Exception {
    String lock = "/pawl/locks/readable";
    List<ACL> readable = new ArrayList<>(Ids.READ_ACL_UNSAFE);
    readable.addAll(Ids.CREATOR_ALL_ACL);
    write(lock, "kind=semaphore of 3\n", readable);
    List<WeakReference<Bell>> bells = new ArrayList<>();
    for (int i = 0; i < ATTEMPTS; i++) {
      List<Standing> rung = new ArrayList<>();
      Bell bell = rung::add;
      bells.add(new WeakReference<>(bell));
      Claim refused = seam.permits("readable", 1, 3);
      assertThatThrownBy(() -> Seam.answer(store.attempt(refused, bell)))
          .isInstanceOf(StoreDeniedException.class);
    }

    await()
        .until(
            () -> {
              System.gc();
              return bells.stream().allMatch(bell -> bell.get() == null);
            });
  }

  /** A grant that cannot be noted is no sign that the node has gone. */
  @Test
  void aClaimWhoseGrantMayNotBeNotedIsNotForgottenWhileItsNodeStands() throws Exception {
    Claim next = seam.lasting("mine", Duration.ofMinutes(1));
    assertThat(seam.attempt(next)).isInstanceOf(Standing.Waiting.class);
    for (String name : raw.getChildren("/pawl/locks/mine", false)) {
      if (name.startsWith("wk-")) {
        raw.setACL("/pawl/locks/mine/" + name, Ids.READ_ACL_UNSAFE, -1);
      }
    }
    seam.withdraw(claim);

    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> Seam.answer(store.attempt(next, standing -> {})))
                    .isInstanceOf(StoreDeniedException.class));
    seam.withdraw(next.withMinHold(Duration.ZERO));

    assertThat(Seam.answer(store.show("mine")).filter(view -> !view.holders().isEmpty())).isEmpty();
    seam.take(seam.claim("mine"));
  }

  /** Whoever waits would take its client for alive until the session ends. */
  @Test
  void anEndThatMayNotBeNotedIsToldAndRepeated() throws Exception {
    Claim lasting = seam.lasting("lasting", Duration.ofMinutes(1));
    seam.take(lasting);
    String lock = "/pawl/locks/lasting";
    List<ACL> fixed = Arrays.asList(new ACL(Perms.ALL & ~Perms.DELETE, Ids.ANYONE_ID_UNSAFE));
    raw.setACL(lock, fixed, -1);

    assertThatThrownBy(() -> seam.withdraw(lasting)).isInstanceOf(StoreDeniedException.class);

    raw.setACL(lock, Ids.OPEN_ACL_UNSAFE, -1);
    await()
        .until(
            () -> raw.getChildren(lock, false).stream().noneMatch(name -> name.startsWith("a-")));
  }

  /** It would be served in a block though nobody waits with it: it has a node until it has left. */
  @Test
  void aClaimThatDoesNotQueueIsNamedBehindNoOther() throws Exception {
    Claim holder = seam.claim("followed");
    seam.take(holder);
    CompletableFuture<Standing> rung = new CompletableFuture<>();
    Claim leader = seam.claim("followed", Seam.LEASE, 64);
    assertThat(Seam.answer(store.attempt(leader, rung::complete)))
        .isInstanceOf(Standing.Waiting.class);
    String lock = "/pawl/locks/followed";
    List<ACL> fixed = Arrays.asList(new ACL(Perms.ALL & ~Perms.DELETE, Ids.ANYONE_ID_UNSAFE));
    raw.setACL(lock, fixed, -1);
    assertThatThrownBy(() -> seam.attempt(seam.impatient("followed")))
        .isInstanceOf(StoreDeniedException.class);
    raw.setACL(lock, Ids.OPEN_ACL_UNSAFE, -1);

    seam.withdraw(holder);

    Standing.Held granted = (Standing.Held) Seam.answer(rung);
    assertThat(granted.followers()).isEmpty();
  }

  @Test
  void aClaimThatMayNotBeReadKeepsNoOtherFromBeingRenewed() throws Exception {
    Claim closed = seam.claim("closed");
    Claim last = seam.claim("last");
    seam.take(closed);
    seam.take(last);
    String node = "/pawl/locks/closed/" + raw.getChildren("/pawl/locks/closed", false).get(0);
    raw.setACL(node, Arrays.asList(new ACL(Perms.ADMIN, Ids.ANYONE_ID_UNSAFE)), -1);

    Map<ClaimId, Standing> renewed = Seam.answer(store.renew(List.of(claim, closed, last)));

    assertThat(renewed.get(claim.id())).isInstanceOf(Standing.Held.class);
    assertThat(renewed.get(last.id())).isInstanceOf(Standing.Held.class);
    assertThat(renewed).doesNotContainKey(closed.id());
    assertThatThrownBy(() -> seam.renew(closed)).isInstanceOf(StoreDeniedException.class);
  }

  @Test
  void aBarrierThatOneServerRefusedIsNone() throws Exception {
    write("/closed", "", Ids.CREATOR_ALL_ACL);
    Settings settings =
        Settings.parse(
            StoreUrl.parse("zk://" + server.address() + "/closed" + ContractServers.PARAMETERS));
    Failures failures = new Failures(settings.shown());
    try (Clock clock = new Clock()) {
      QueuedClaims claims = new QueuedClaims(settings, clock, failures);

      assertThatThrownBy(
              () ->
                  Seam.answer(
                      claims
                          .base()
                          .ask()
                          .barrier()
                          .exceptionally(
                              error -> {
                                throw failures.of(error);
                              })))
          .isInstanceOf(StoreDeniedException.class);
      claims.close();
    }
  }
}
