package io.pawl.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts of a claim: id, mode, lease, tokens, holder. */
class ClaimTest {

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S", "PT0.099S", "P7DT0.001S", "PT2562047788015215H"})
  void leasesOutsideTheBoundsAreRefused(String lease) {
    assertThatThrownBy(() -> Claim.checkLease(Duration.parse(lease)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("lease");
  }

  @Test
  void theBoundsThemselvesAreLeases() {
    assertThat(Claim.checkLease(Claim.MIN_LEASE)).isEqualTo(Duration.ofMillis(100));
    assertThat(Claim.checkLease(Claim.MAX_LEASE)).isEqualTo(Duration.ofDays(7));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "65537, 0", "1, -1", "1, 9007199254740992"})
  void tokensAndFloorsOutsideTheBoundsAreRefused(int tokens, long floor) {
    assertThatThrownBy(() -> Claims.of(1, Mode.EXCLUSIVE, 1_000, true, tokens, floor))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void markingAClaimUnsettledChangesNothingElse() {
    Claim claim = Claims.exclusive(1);
    assertThat(claim.asUnsettled().unsettled()).isTrue();
    assertThat(claim.asUnsettled())
        .usingRecursiveComparison()
        .ignoringFields("unsettled")
        .isEqualTo(claim);
    assertThat(claim.asUnsettled().asUnsettled()).isEqualTo(claim.asUnsettled());
  }

  @Test
  void anIdIsReadBackFromItsText() {
    ClaimId id = new ClaimId("a-Z_9", Long.MAX_VALUE);
    assertThat(ClaimId.parse(id.toString())).isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", ".", ".1", "a", "a.", "a.x", "a.-1", "a.b.1", "ä.1", "a.9223372036854775808"})
  void whatIsNoIdIsRefused(String text) {
    assertThatThrownBy(() -> ClaimId.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void idsAreOrderedByClientThenByNumberNotByText() {
    assertThat(new ClaimId("a", 2)).isLessThan(new ClaimId("a", 10));
    assertThat(new ClaimId("a", 10)).isLessThan(new ClaimId("b", 2));
  }

  @ParameterizedTest
  @ValueSource(strings = {"exclusive", "shared", "1/1", "2/5"})
  void aModeIsReadBackFromItsText(String text) {
    assertThat(Mode.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Exclusive", "/", "1/", "/1", "0/1", "2/1", "-1/1", "1/1/1", "1/x"})
  void whatIsNoModeIsRefused(String text) {
    assertThatThrownBy(() -> Mode.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void tokensEndAtTheirMaximumWithoutOverflow() {
    assertThat(Tokens.next("lock", Tokens.MAX - 2, 2))
        .isEqualTo(new Standing.Held(Tokens.MAX - 1, Tokens.MAX));
    assertThatThrownBy(() -> Tokens.next("lock", Tokens.MAX - 1, 2))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("'lock'");
    assertThatThrownBy(() -> Tokens.next("lock", Long.MAX_VALUE, 65_536))
        .isInstanceOf(StoreException.class);
  }

  @ParameterizedTest
  @CsvSource({"0, 1", "2, 1", "-1, -1", "1, 9007199254740992"})
  void rangesOfTokensThatCannotBeAreRefused(long first, long last) {
    assertThatThrownBy(() -> new Standing.Held(first, last))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aHoldersFieldsAreCutWithoutTearingACharacterApart() {
    Holder holder = new Holder("h", 1, "x".repeat(255) + "🔒", "🔒".repeat(200), "");
    assertThat(holder.thread()).isEqualTo("x".repeat(255));
    assertThat(holder.application()).isEqualTo("🔒".repeat(128));
  }

  @Test
  void aHolderCannotForgeLinesOrDriveATerminal() {
    Holder holder = new Holder("h\r\n", 1, "\u009b31m", "\u001b[2J", "\0");
    assertThat(holder.toString().chars()).noneMatch(Character::isISOControl);
  }

  @Test
  void aHolderReadsAsOneWouldSayIt() {
    assertThat(new Holder("host", 12, "main", "app", "note"))
        .hasToString("app 'note' (host, pid 12, main)");
    assertThat(new Holder("host", 12, "main", "", "")).hasToString("(host, pid 12, main)");
  }
}
