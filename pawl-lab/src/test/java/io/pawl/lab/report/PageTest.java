package io.pawl.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.lab.report.Result.Run;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Service;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Trace;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The page needs nothing but itself, and what specimens say cannot break it. */
class PageTest {

  private static final Specimen SPECIMEN =
      new Specimen() {
        @Override
        public String id() {
          return "S0";
        }

        @Override
        public String title() {
          return "<script>alert(1)</script> & \"more\"";
        }

        @Override
        public String origin() {
          return "Here.";
        }

        @Override
        public Service service() {
          return Service.REDIS;
        }

        @Override
        public Finding play(Stage stage) {
          throw new UnsupportedOperationException();
        }

        @Override
        public Finding pawl(Stage stage) {
          throw new UnsupportedOperationException();
        }
      };

  private static Result result() {
    Trace broken = new Trace();
    broken.holds("A", "takes <b>");
    broken.holds("B", "takes");
    broken.writes("A", "writes");
    Trace pawl = new Trace();
    pawl.holds("A", "acquire", 7, () -> true);
    return new Result(
        SPECIMEN,
        "Redis 7",
        new Run(Finding.twoHolders(broken, "both hold"), broken),
        new Run(Finding.stands("one holds", "witness"), pawl));
  }

  @Test
  void thePageLoadsNothing() {
    String page = Page.of(List.of(result()), "a machine");
    assertThat(page).doesNotContain("http:", "https:", "src=", "@import", "url(", "<link");
    assertThat(page).contains("prefers-color-scheme: dark", "<svg", "hold overlap", "#7");
  }

  @Test
  void whatSpecimensSayIsText() {
    assertThat(Page.of(List.of(result()), "<i>"))
        .doesNotContain("<script", "takes <b>", "<i>")
        .contains("&lt;script&gt;", "takes &lt;b&gt;");
  }

  @Test
  void theTableHasARowForEachSpecimen() {
    assertThat(Story.table(List.of(result())).lines())
        .hasSize(3)
        .last()
        .asString()
        .contains("S0", "Redis 7", "two holders", "1 overlap of holds, 1 stale write", "stands");
  }
}
