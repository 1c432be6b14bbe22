package io.pawl.lab.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.pawl.tck.CounterContract;
import io.pawl.tck.LockContract;
import io.pawl.tck.StoreContract;
import java.util.List;
import java.util.Map;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The TCK is tested: a store with a mistake fails the case that is there for it. */
class TckTest {

  /** The case that finds each mistake. */
  private static final Map<Class<? extends StoreContract>, String> FOUND_BY =
      Map.ofEntries(
          Map.entry(Mistakes.NoExpiry.class, "aClaimUnheardOfForItsLeaseIsGone"),
          Map.entry(Mistakes.BlindDelete.class, "aClaimThatRanOutLeavesTheNextHolderAlone"),
          Map.entry(Mistakes.RenewsWhoeverHolds.class, "aClaimThatRanOutLeavesTheNextHolderAlone"),
          Map.entry(Mistakes.OneOwnerPerClient.class, "waitersAreServedInOrder"),
          Map.entry(Mistakes.RepeatedRelease.class, "withdrawIsIdempotentAndFinal"),
          Map.entry(Mistakes.ClientClock.class, "aBusyLockGivesAPlaceInLine"),
          Map.entry(Mistakes.TokenReset.class, "tokensGrowAcrossReleaseExpiryAndReopen"),
          Map.entry(Mistakes.RenewalAfterRelease.class, "renewRevivesNothing"),
          Map.entry(Mistakes.NothingButTheBell.class, "renewTellsAWaiterThatMissedItsBell"),
          Map.entry(Mistakes.DeadWaiters.class, "aDeadWaiterIsSkipped"),
          Map.entry(Mistakes.FollowersOfReaders.class, "aReaderHasNoFollowers"),
          Map.entry(Mistakes.ShortQueue.class, "p6_someoneGetsIn_aHundredWaitersKeepTheirPlaces"),
          Map.entry(
              Mistakes.ShortMemory.class, "p8_nothingLeftBehind_aHundredWithdrawalsAreRemembered"),
          Map.entry(
              Mistakes.LenientTimes.class, "p7_conservation_anIdIsTooOldByAMillisecondAndNoSooner"),
          Map.entry(Mistakes.PageOnceMore.class, "aPageOfCountersBeginsBehindTheNameThatItIsGiven"),
          Map.entry(
              Mistakes.EndsBeforeTheClientThinks.class,
              "p1_oneHolder_aLeaseIsInvalidBeforeAnotherIsGranted"),
          Map.entry(Mistakes.NoFloor.class, "p7_conservation_aCounterNeverPassesItsFloor"),
          Map.entry(
              Mistakes.ForgetsIds.class, "p7_conservation_aTakeWhoseRepliesWereLostIsAppliedOnce"));

  @TestFactory
  List<DynamicTest> aStoreWithAMistakeFailsTheCaseThatIsThereForIt() {
    return FOUND_BY.entrySet().stream()
        .map(
            it ->
                DynamicTest.dynamicTest(
                    it.getKey().getSimpleName(), () -> assertFails(it.getKey(), it.getValue())))
        .toList();
  }

  private static void assertFails(Class<?> contract, String testCase) {
    TestExecutionSummary summary = run(contract, testCase);
    assertThat(summary.getTestsStartedCount()).as(testCase).isEqualTo(1);
    assertThat(summary.getFailures())
        .singleElement()
        .satisfies(
            it ->
                assertThat(it.getException())
                    .as(testCase)
                    .isInstanceOfAny(AssertionError.class, ConditionTimeoutException.class));
  }

  @TestFactory
  List<DynamicTest> aStoreWithoutAMistakePassesTheSameCases() {
    return FOUND_BY.entrySet().stream()
        .map(
            it ->
                DynamicTest.dynamicTest(
                    it.getKey().getSimpleName(), () -> assertPasses(it.getKey(), it.getValue())))
        .toList();
  }

  private static void assertPasses(Class<?> contract, String testCase) {
    TestExecutionSummary summary = run(withoutAMistake(contract), testCase);
    assertThat(summary.getFailures()).isEmpty();
    assertThat(summary.getTestsSucceededCount()).as(testCase).isEqualTo(1);
  }

  private static Class<?> withoutAMistake(Class<?> contract) {
    if (CounterContract.class.isAssignableFrom(contract)) {
      return Mistakes.NoneForCounters.class;
    }
    return LockContract.class.isAssignableFrom(contract)
        ? Mistakes.NoneForUsers.class
        : Mistakes.None.class;
  }

  private static TestExecutionSummary run(Class<?> contract, String testCase) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    PostDiscoveryFilter thatCase =
        test ->
            FilterResult.includedIf(
                test.getSource()
                    .filter(MethodSource.class::isInstance)
                    .map(it -> ((MethodSource) it).getMethodName().equals(testCase))
                    .orElse(true));
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(contract))
                .filters(thatCase)
                .build(),
            listener);
    return listener.getSummary();
  }
}
