package io.pawl.spi.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Claims;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.LockState.Entry;
import io.pawl.spi.rule.LockState.Grant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Random sequences of all verbs; after every step the rule's promises hold and a model agrees. */
class GrantRulePropertiesTest {

  private static final int SEQUENCES = 2_500;
  private static final int STEPS = 60;

  @Test
  void everyPromiseHoldsAfterEveryStepOfFixedSequences() {
    for (long seed = 0; seed < SEQUENCES; seed++) {
      new Sequence(seed).run();
    }
  }

  @Test
  void everyPromiseHoldsAfterEveryStepOfRandomSequences() {
    Random seeds = new Random();
    for (int i = 0; i < 500; i++) {
      new Sequence(seeds.nextLong()).run();
    }
  }

  private static final class Sequence {
    private final long seed;
    private final Random random;
    private final LockState state = new LockState("lock", 0);
    private final NaiveRule model = new NaiveRule();
    private final List<Claim> claims = new ArrayList<>();
    private long now = 1_000;
    private String step = "";

    /** Holders may have more than the capacity until enough of them have gone. */
    private boolean capacityShrank;

    Sequence(long seed) {
      this.seed = seed;
      this.random = new Random(seed);
      int first = random.nextInt(3);
      int kinds = 1 + random.nextInt(3);
      int count = 2 + random.nextInt(8);
      for (int i = 0; i < count; i++) {
        claims.add(randomClaim(i, first + random.nextInt(kinds)));
      }
    }

    private Claim randomClaim(int number, int kind) {
      Mode mode =
          switch (kind % 4) {
            case 0 -> Mode.EXCLUSIVE;
            case 1 -> Mode.SHARED;
            case 2 -> new Mode.Permits(1 + random.nextInt(3), 3);
            default -> new Mode.Permits(1 + random.nextInt(2), 4);
          };
      long lease = 100L * (1 + random.nextInt(10));
      long floor = random.nextInt(4) == 0 ? random.nextInt(200) : 0;
      boolean queues = random.nextInt(4) > 0;
      Duration minHold = Duration.ofMillis(random.nextInt(3) == 0 ? random.nextInt(2_000) : 0);
      return Claims.of(number, mode, lease, queues, 1 + random.nextInt(5), floor)
          .withMinHold(minHold);
    }

    void run() {
      for (int i = 0; i < STEPS; i++) {
        List<ClaimId> lineBefore = ids(state.waiters());
        List<ClaimId> holdersBefore = ids(state.holders());
        long lastBefore = state.lastToken();
        ClaimId attempted = doSomething(i);
        checkLine(lineBefore, holdersBefore, attempted);
        checkTokens(holdersBefore, lastBefore);
        checkState();
      }
    }

    /** Answers the claim that was attempted, if one was. */
    private ClaimId doSomething(int number) {
      Claim claim = claims.get(random.nextInt(claims.size()));
      int choice = random.nextInt(100);
      step = "seed " + seed + " step " + number + " now " + now + " choice " + choice + " " + claim;
      if (choice < 40) {
        attempt(random.nextInt(5) == 0 ? asReader(claim) : claim);
        return claim.id();
      } else if (choice < 55) {
        Standing standing = GrantRule.renew(state, claim.id(), now);
        assertThat(standing).as(step).isInstanceOf(model.renew(claim.id(), now));
      } else if (choice < 75) {
        Claim used = random.nextInt(4) > 0 ? claim : claim.withMinHold(Duration.ZERO);
        Claim gone = random.nextBoolean() ? used : used.asUnsettled();
        GrantRule.withdraw(state, gone, now);
        model.withdraw(gone, now);
        assertThat(state.holders())
            .as(step)
            .noneMatch(entry -> entry.id().equals(claim.id()) && !entry.lingers());
        assertThat(GrantRule.renew(state, claim.id(), now)).as(step).isEqualTo(Standing.GONE);
        assertThat(ids(state.waiters())).as(step).doesNotContain(claim.id());
      } else if (choice < 80) {
        long token = state.lastToken() - random.nextInt(4);
        assertThat(GrantRule.evict(state, token, now)).as(step).isEqualTo(model.evict(token, now));
      } else if (choice < 83) {
        int capacity = random.nextInt(5);
        boolean set = GrantRule.setKind(state, new Kind(capacity), now);
        assertThat(set).as(step).isEqualTo(model.setCapacity(capacity, now));
        capacityShrank |= set;
      } else {
        now += random.nextInt(50) == 0 ? 61_000 : random.nextInt(choice < 90 ? 30 : 600);
        GrantRule.settle(state, now);
        model.evict(-1, now);
      }
      return null;
    }

    private void attempt(Claim claim) {
      Standing standing = GrantRule.attempt(state, claim, now);
      assertThat(standing).as(step).isInstanceOf(model.attempt(claim, now));
      if (model.isWithdrawn(claim.id())) {
        assertThat(standing).as(step).isEqualTo(Standing.GONE);
      }
      if (claim.queues() || standing instanceof Standing.Held) {
        LockState before = copy();
        assertThat(GrantRule.attempt(before, claim, now)).as(step).isEqualTo(standing);
        assertThat(before.view(0)).as(step).isEqualTo(state.view(0));
      }
      if (standing instanceof Standing.Waiting waiting) {
        long soonest = state.holders().stream().mapToLong(Entry::until).min().orElseThrow();
        assertThat(waiting.askAgain().toMillis()).as(step).isEqualTo(soonest - now).isPositive();
      }
    }

    private static Claim asReader(Claim claim) {
      return claim.mode() == Mode.EXCLUSIVE ? claim.as(Mode.SHARED) : claim;
    }

    private LockState copy() {
      return new LockState(
          "lock",
          state.kind(),
          state.lastToken(),
          state.holders(),
          state.waiters(),
          state.withdrawn());
    }

    /** First come, first served: whoever was let in from the line stood before all who were not. */
    private void checkLine(
        List<ClaimId> lineBefore, List<ClaimId> holdersBefore, ClaimId attempted) {
      Set<ClaimId> holders = new HashSet<>(ids(state.holders()));
      List<ClaimId> line = ids(state.waiters());
      List<ClaimId> stillThere = new ArrayList<>(lineBefore);
      stillThere.removeIf(id -> !line.contains(id) && !holders.contains(id));
      int letIn = (int) stillThere.stream().filter(holders::contains).count();
      assertThat(holders).as(step).containsAll(stillThere.subList(0, letIn));
      List<ClaimId> behind = stillThere.subList(letIn, stillThere.size());
      assertThat(line.subList(0, behind.size())).as(step).isEqualTo(behind);
      List<Grant> grants = state.takeGrants();
      grants.forEach(this::checkFollowers);
      List<ClaimId> rung = grants.stream().map(Grant::id).toList();
      assertThat(rung).as(step).containsExactlyElementsOf(stillThere.subList(0, letIn));
      if (attempted != null
          && holders.contains(attempted)
          && !holdersBefore.contains(attempted)
          && !lineBefore.contains(attempted)) {
        assertThat(line).as(step + ": nobody is overtaken").isEmpty();
      }
    }

    private void checkFollowers(Grant grant) {
      Entry holder =
          state.holders().stream().filter(h -> h.id().equals(grant.id())).findAny().orElseThrow();
      List<ClaimId> expected =
          holder.mode() instanceof Mode.Exclusive
              ? state.waiters().stream()
                  .takeWhile(
                      next ->
                          next.id().client().equals(grant.id().client())
                              && next.mode() instanceof Mode.Exclusive)
                  .limit(holder.lastToken() - holder.token())
                  .map(Entry::id)
                  .toList()
              : List.of();
      assertThat(grant.held().followers()).as(step).isEqualTo(expected);
    }

    private void checkTokens(List<ClaimId> holdersBefore, long lastBefore) {
      assertThat(state.lastToken()).as(step).isGreaterThanOrEqualTo(lastBefore);
      long last = 0;
      for (Entry holder : state.holders()) {
        assertThat(holder.token()).as(step).isGreaterThan(last).isGreaterThan(holder.tokenFloor());
        last = holder.lastToken();
        assertThat(last - holder.token() + 1).as(step).isEqualTo(holder.tokens());
        if (!holdersBefore.contains(holder.id())) {
          assertThat(holder.token()).as(step).isGreaterThan(lastBefore);
        }
      }
      assertThat(state.lastToken()).as(step).isGreaterThanOrEqualTo(last);
    }

    private void checkState() {
      int capacity = state.kind() == null ? -1 : state.kind().capacity();
      assertThat(capacity).as(step).isEqualTo(model.capacity);
      List<Mode> modes = new ArrayList<>(state.holders().stream().map(Entry::mode).toList());
      if (!capacityShrank) {
        assertThat(NaiveRule.compatible(modes, capacity)).as(step).isTrue();
      }
      state.waiters().stream().findFirst().ifPresent(head -> modes.add(head.mode()));
      boolean someoneWaits = !state.waiters().isEmpty();
      assertThat(someoneWaits && NaiveRule.compatible(modes, capacity))
          .as(step + ": no lost grant")
          .isFalse();
      assertThat(state.holders()).as(step).allMatch(entry -> entry.until() > now);
      assertThat(state.waiters()).as(step).allMatch(entry -> entry.until() > now);
      assertThat(state.withdrawn().keySet()).as(step).allMatch(model::isWithdrawn);
      assertThat(summary(state.holders())).as(step).isEqualTo(modelSummary(model.holders));
      assertThat(summary(state.waiters())).as(step).isEqualTo(modelSummary(model.waiters));
    }

    private static List<String> summary(Iterable<Entry> entries) {
      List<String> lines = new ArrayList<>();
      entries.forEach(e -> lines.add(e.id() + " " + e.mode() + " " + e.token() + " " + e.until()));
      return lines;
    }

    private static List<String> modelSummary(List<NaiveRule.Entry> entries) {
      return entries.stream()
          .map(e -> e.id() + " " + e.mode() + " " + e.token() + " " + e.endsAt())
          .toList();
    }

    private static List<ClaimId> ids(Iterable<Entry> entries) {
      List<ClaimId> ids = new ArrayList<>();
      entries.forEach(entry -> ids.add(entry.id()));
      return ids;
    }
  }
}
