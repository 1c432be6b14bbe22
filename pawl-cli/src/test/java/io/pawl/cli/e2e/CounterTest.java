package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CounterTest {

  @TempDir Path directory;
  private Shell shell;

  @BeforeEach
  void setUp() {
    shell = new Shell(directory);
  }

  private void prints(String number, String... words) {
    Started run = counter(words);
    assertThat(run.errors()).isEmpty();
    assertThat(run.output()).isEqualTo(number + "\n");
    assertThat(run.exit()).isZero();
  }

  private void refuses(int exit, String output, String why, String... words) {
    Started run = counter(words);
    assertThat(run.errors()).startsWith("pawl: ").contains(why).hasLineCount(1);
    assertThat(run.output()).isEqualTo(output);
    assertThat(run.exit()).isEqualTo(exit);
  }

  private Started counter(String... words) {
    String[] args = new String[words.length + 1];
    args[0] = "counter";
    System.arraycopy(words, 0, args, 1, words.length);
    return shell.run(args);
  }

  @Test
  void aCounterIsNeverTakenBelowItsFloorOrRaisedAboveItsCeiling() {
    prints("0", "get", "sku");
    prints("5", "set", "sku", "5");
    prints("4", "take", "sku");
    prints("3", "add", "sku", "-1");
    prints("5", "give", "sku", "2");
    prints("5", "bounds", "sku", "2", "6");
    prints("2 6", "bounds", "sku");
    refuses(75, "5\n", "add -4 was refused, it is 5", "take", "sku", "4");
    refuses(75, "5\n", "add 2 was refused", "give", "sku", "2");
    refuses(75, "5\n", "set 7 was refused", "set", "sku", "7");
    prints("5", "get", "sku");
  }

  @Test
  void countersAreListedAndTheirLedgersPruned() {
    prints("5", "set", "b", "5");
    prints("6", "set", "a", "6");
    assertThat(counter("list").output()).isEqualTo("a\nb\n");
    assertThat(counter("list", "--json").output()).startsWith("{\"counter\":\"a\"}\n");
    prints("forgot 0 operations", "prune", "a", "--older", "1d");
    prints("forgot 1 operations", "prune", "a", "--older", "0s");
    prints("6", "get", "a");
  }

  @Test
  void aChangeIsMadeOnceUnderItsIdAndItsOutcomeCanBeAsked() {
    prints("5", "set", "sku", "5");
    prints("3", "take", "sku", "2", "--id", "order-7");
    prints("3", "take", "sku", "2", "--id", "order-7");
    refuses(65, "", "use another id", "take", "sku", "--id", "order-7");
    prints("applied", "outcome", "sku", "order-7");
    assertThat(counter("outcome", "sku", "order-8").output()).isEqualTo("never\n");
    assertThat(counter("outcome", "sku", "order-8").exit()).isEqualTo(75);
    refuses(65, "", "use another id", "take", "sku", "--id", "order-8");
    assertThat(counter("history", "sku", "--limit", "2").output())
        .containsPattern("(?m)^AT .*\n.* never .* order-8\n.* applied +add -2 +-2 +3 +order-7\n$");
  }

  @Test
  void namesAndIdsThatBeginWithADashComeAfterTwo() {
    prints("5", "set", "--id", "-17a", "--", "-sku", "5");
    prints("4", "take", "--id=-17b", "--", "-sku");
    prints("applied", "outcome", "--", "-sku", "-17a");
    prints("applied", "outcome", "--", "-sku", "-17b");
    prints("3", "reserve", "--id=-17c", "--ttl=1h", "--", "-sku");
    assertThat(counter("confirm", "--", "-sku", "-17c").exit()).isZero();
    refuses(75, "", "was confirmed", "cancel", "--", "-sku", "-17c");
    assertThat(shell.run("show", "--", "-x").output()).startsWith("lock        -x\n");
  }

  /** Who got exit 74 a minute ago asks about an id that no prune of last month has forgotten. */
  @Test
  void anIdThatWasUsedOfLateIsAskedForThoughTheLedgerWasPruned() {
    prints("5", "set", "sku", "5");
    prints("forgot 0 operations", "prune", "sku", "--older", "1h");
    refuses(65, "", "--within", "outcome", "sku", "lost");
    Started asked = counter("outcome", "sku", "lost", "--within", "10m");
    assertThat(asked.errors()).isEmpty();
    assertThat(asked.output()).isEqualTo("never\n");
    assertThat(asked.exit()).isEqualTo(75);
    refuses(65, "", "was issued 2", "outcome", "sku", "older", "--within", "2h");
    refuses(64, "", "--within goes with", "take", "sku", "--within", "1h");
  }

  @Test
  void aReservationIsConfirmedOrCancelledOrReturnsByItself() {
    prints("5", "set", "sku", "5");
    prints("3", "reserve", "sku", "2", "--id", "a", "--ttl", "1h");
    prints("2", "reserve", "sku", "--id", "b", "--ttl", "1h");
    prints("1", "reserve", "sku", "--id", "c", "--ttl", "1ms");
    assertThat(counter("confirm", "sku", "a").exit()).isZero();
    assertThat(counter("cancel", "sku", "b").exit()).isZero();
    refuses(75, "", "was confirmed", "cancel", "sku", "a");
    refuses(75, "", "back in stock", "confirm", "sku", "b");
    refuses(75, "", "back in stock", "confirm", "sku", "c");
    prints("3", "get", "sku");
    refuses(75, "3\n", "3 is left", "reserve", "sku", "4", "--id", "d", "--ttl", "1h");
  }

  @Test
  void jsonSaysEverythingInOneObject() {
    assertThat(counter("add", "sku", "3", "--json").output())
        .isEqualTo(
            "{\"counter\":\"sku\",\"operation\":\"add\",\"result\":\"applied\",\"value\":3}\n");
    Started refused = counter("take", "sku", "4", "--json");
    assertThat(refused.output()).contains("\"result\":\"refused\",\"value\":3}");
    assertThat(refused.errors()).isEmpty();
    assertThat(refused.exit()).isEqualTo(75);
    assertThat(counter("reserve", "sku", "--id", "r", "--ttl", "1h", "--json").output())
        .contains("\"result\":\"applied\",\"id\":\"r\",\"until\":\"2");
    assertThat(counter("get", "sku", "--json").output())
        .isEqualTo(
            "{\"counter\":\"sku\",\"value\":2,\"floor\":0,\"ceiling\":9007199254740991,"
                + "\"reserved\":1}\n");
    assertThat(counter("outcome", "sku", "r", "--json").output())
        .startsWith("{\"counter\":\"sku\",\"id\":\"r\",\"status\":\"reserved\",");
  }

  @Test
  void aLockIsNoCounterAndACounterNoLock() {
    prints("1", "add", "sku", "1");
    Started run = shell.run("run", "sku", "--", "echo", "never");
    assertThat(run.exit()).isEqualTo(78);
    assertThat(run.output()).isEmpty();
    assertThat(run.errors()).contains("a counter has this name").hasLineCount(1);
    shell.run("run", "nightly", "--", "true");
    refuses(78, "", "a lock has this name", "add", "nightly", "1");
  }

  @Test
  void whatCannotBeIsRefusedBeforeAnythingIsOpened() {
    refuses(64, "", "what to do is missing");
    refuses(64, "", "known are get, set", "frobnicate", "sku");
    refuses(64, "", "write: pawl counter take NAME [AMOUNT]", "take");
    refuses(64, "", "write: pawl counter bounds NAME [FLOOR CEILING]", "bounds", "sku", "1");
    refuses(64, "", "empty", "get", "");
    refuses(64, "", "no whole number", "take", "sku", "1.5");
    refuses(64, "", "amount: 0 is not positive", "take", "sku", "0");
    refuses(64, "", "amount: -1 is not positive", "give", "sku", "-1");
    refuses(64, "", "2^53 - 1", "add", "sku", Long.toString(Long.MIN_VALUE));
    refuses(64, "", "2^53 - 1", "set", "sku", "9".repeat(30));
    refuses(64, "", "floor: 2 is above ceiling 1", "bounds", "sku", "2", "1");
    refuses(64, "", "250 bytes", "take", "sku", "--id", "x".repeat(251));
    refuses(64, "", "needs --id", "reserve", "sku", "--ttl", "1h");
    refuses(64, "", "needs --ttl", "reserve", "sku", "--id", "a");
    refuses(64, "", "shorter than 1ms", "reserve", "sku", "--id", "a", "--ttl", "0s");
    refuses(64, "", "--ttl goes with reserve only", "take", "sku", "--ttl", "1h");
    refuses(64, "", "--id does not go with get", "get", "sku", "--id", "a");
    refuses(64, "", "--limit: 0 is not", "history", "sku", "--limit", "0");
    refuses(64, "", "begins with - comes after --", "outcome", "sku", "-17a");
    assertThat(shell.run("show", "-x").errors()).contains("begins with - comes after --");
    refuses(64, "", "option --stoer is unknown", "get", "sku", "--stoer=redis://u:canary@h");
    assertThat(directory.resolve("locks.db")).doesNotExist();
  }
}
