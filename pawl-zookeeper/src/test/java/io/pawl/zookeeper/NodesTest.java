package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.ClaimId;
import io.pawl.zookeeper.Nodes.Place;
import io.pawl.zookeeper.Nodes.Queue;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which names are a claim's, and what they say. */
class NodesTest {

  private static final Pattern CLAIM =
      Pattern.compile(
          "(w|r|p\\d{1,10})k?-[A-Za-z0-9_-]{1,64}\\.\\d{1,18}-[0-9a-f]{1,16}-[0-2]\\d{9}");

  private static final String NAME = "pk-a-b_Z.12-1f-0000000042";
  private static final String SPICE = "wrpka-.01f9A_Z é";
  private static final int NAMES = 200_000;
  private static final long SEED = 42;

  @Test
  void aNameIsAClaimsIfItHasAllPartsAndNoOthers() {
    Random random = new Random(SEED);
    int claims = 0;
    for (int i = 0; i < NAMES; i++) {
      StringBuilder name = new StringBuilder(i % 2 == 0 ? NAME : NAME.replace("pk", "w"));
      for (int change = random.nextInt(4); change > 0; change--) {
        char c = SPICE.charAt(random.nextInt(SPICE.length()));
        int at = random.nextInt(name.length());
        switch (random.nextInt(3)) {
          case 0 -> name.setCharAt(at, c);
          case 1 -> name.insert(at, c);
          default -> name.deleteCharAt(at);
        }
      }
      String text = name.toString();
      boolean claim = CLAIM.matcher(text).matches() && !text.matches("p0+k?-.*");
      assertThat(Nodes.parse(text) != null).as(text).isEqualTo(claim);
      claims += claim ? 1 : 0;
    }
    assertThat(claims).isBetween(NAMES / 10, NAMES - NAMES / 10);
  }

  @Test
  void aNameSaysWhoseItIs() {
    Place place = Nodes.parse("p3k-some-client.17-ff00000000000001-0000000042");

    assertThat(place.units()).isEqualTo(3);
    assertThat(place.kept()).isTrue();
    assertThat(place.number()).isEqualTo(42);
    assertThat(place.id()).isEqualTo(new ClaimId("some-client", 17));
    assertThat(place.isOf(place.id())).isTrue();
    assertThat(place.isOf(new ClaimId("some-client", 1))).isFalse();
    assertThat(place.isOf(place.id(), 0xff00000000000001L)).isTrue();
    assertThat(place.isOf(place.id(), 1)).isFalse();
    assertThat(place.isOfClient("some-client")).isTrue();
    assertThat(place.isOfClient("some")).isFalse();
    assertThat(place.sign()).isEqualTo(Nodes.sign(place.id(), 0xff00000000000001L));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "0000000001",
        "-0000000001",
        "w-0000000001",
        "w-a.1-0000000001",
        "w-a.1--0000000001",
        "w-a.1-1-2147483648",
        "w-a.9223372036854775808-1-0000000001",
        "p2147483648-a.1-1-0000000001",
        "k-a.1-1-0000000001",
        "ww-a.1-1-0000000001",
        "w-a.1-12345678901234567-0000000001"
      })
  void aNameOfNoClaimIsNone(String name) {
    assertThat(Nodes.parse(name)).isNull();
  }

  @Test
  void aPlaceIsFoundInAQueueBesideOneOfTheSameNumberThatOthersWrote() {
    List<String> names =
        List.of(
            "w-b.1-1-0000000009", "w-other.1-1-0000000007", "w-a.2-1-0000000007", "a-x", "notes");

    Queue queue = Queue.of(names, new Stat());

    assertThat(queue.before("w-other.1-1-0000000007")).isZero();
    assertThat(queue.before("w-a.2-1-0000000007")).isZero();
    assertThat(queue.before("w-b.1-1-0000000009")).isEqualTo(2);
    assertThat(queue.before("w-b.2-1-0000000009")).isNegative();
    assertThat(queue.before("w-b.1-1-0000000008")).isNegative();
    assertThat(queue.signs()).containsExactly("a-x");
  }

  /** One that is found again, since an answer was lost after it was written. */
  @Test
  void aNodeIsNotBehindTheServicesTimeWhenItIsFoundAgain() {
    OwnNode node = new OwnNode(new Seam(null).claim("lock"), null, "/lock", List.of());
    Stat stat = new Stat();
    stat.setCtime(1_000);
    stat.setMtime(1_000);
    node.learn(stat);
    stat.setMtime(60_000);
    node.isWritten(stat, System.nanoTime());

    node.learn(stat);

    assertThat(node.latestServiceMillis()).isGreaterThanOrEqualTo(60_000);
  }
}
