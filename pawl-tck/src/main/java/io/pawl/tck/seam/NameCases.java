package io.pawl.tck.seam;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.LockName;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient.Hold;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Names are bytes: compared as such, and never anything but a name. */
public abstract class NameCases extends SeamCases {

  /** Each differs from the others by something that some collation or file system ignores. */
  public static final List<String> ALIKE =
      List.of(
          "lock",
          "Lock",
          "LOCK",
          "loc\u212A",
          "l\u00F6ck",
          "lo\u0308ck",
          "l\u00F8ck",
          "lock ",
          "lock  ",
          "lock\u00A0",
          "lock.",
          "lo\u00ADck",
          "lo\u200Dck",
          "\uFF4C\uFF4F\uFF43\uFF4B",
          "stra\u00DFe",
          "strasse",
          "fi",
          "\uFB01",
          "i\u0307",
          "\u0130",
          "\u0131",
          "i",
          "I");

  /** Each means something to some store, its language, its paths or its logs. */
  public static final List<String> HOSTILE =
      List.of(
          "'; DROP TABLE pawl_lock; --",
          "\"quoted\" `name` 'it''s'",
          "\\",
          "\\'",
          "100%_[a-z]*?",
          "?1 :name $1 @x",
          "{a}{b}",
          "}{",
          "${jndi:ldap://x}#{1+1}",
          "]] .. redis.call('FLUSHALL') .. [[",
          "../../etc/passwd",
          "/",
          "//a//b/",
          "C:\\NUL",
          "%00%2F",
          "a:b|c;d,e=f&g<h>i",
          " ",
          "null",
          "\uD83D\uDD12\uD83D\uDC68\u200D\uD83D\uDC69\u200D\uD83D\uDC67",
          "\u202Eesrever",
          "\u2028line",
          "\uFFFF\uFFFE\uFEFF",
          "\u6F22\u5B57 \u0627\u0644\u0639\u0631\u0628\u064A\u0629");

  protected NameCases(Bench bench) {
    super(bench);
  }

  private List<String> hostileNames() {
    List<String> names = new ArrayList<>();
    for (String text : HOSTILE) {
      names.add(bench.lock(text));
      names.add(text + bench.namespace());
    }
    names.add(padded("x"));
    names.add(padded("\uD83D\uDD12"));
    return names;
  }

  /** A name of exactly 512 bytes. */
  private String padded(String with) {
    int room = LockName.MAX_BYTES - bench.namespace().length();
    int width = with.getBytes(StandardCharsets.UTF_8).length;
    String name = bench.lock("y".repeat(room % width) + with.repeat(room / width));
    assertThat(name.getBytes(StandardCharsets.UTF_8)).hasSize(LockName.MAX_BYTES);
    return name;
  }

  @Test
  void namesThatDifferInCaseAccentSpaceOrNormalFormAreDifferentLocks() {
    List<Hold> holds = new ArrayList<>();
    for (String text : ALIKE) {
      holds.add(here.take(bench.lock(text)));
    }
    for (Hold hold : holds) {
      String lock = hold.claim().lock();
      assertThat(here.renew(hold.claim())).as(lock).isEqualTo(hold.tokens());
      assertThat(there.findsFree(lock)).as(lock).isFalse();
      here.withdraw(hold);
      assertThat(there.findsFree(lock)).as(lock).isTrue();
    }
  }

  @Test
  void namesLongerByOneCharacterAtTheEndAreDifferentLocks() {
    String longest = padded("x");
    here.take(longest);

    here.take(longest.substring(0, longest.length() - 1));
    here.take(longest.substring(0, longest.length() - 1) + "y");

    assertThat(there.findsFree(longest)).isFalse();
  }

  @Test
  void hostileNamesAreOnlyNames() {
    List<Hold> holds = new ArrayList<>();
    for (String name : hostileNames()) {
      holds.add(here.take(name));
    }
    for (Hold hold : holds) {
      String lock = hold.claim().lock();
      assertThat(there.findsFree(lock)).as(lock).isFalse();
      here.withdraw(hold);
      Hold next = there.take(lock);
      assertThat(next.tokens().token()).as(lock).isGreaterThan(hold.tokens().lastToken());
      there.withdraw(next);
    }
  }
}
