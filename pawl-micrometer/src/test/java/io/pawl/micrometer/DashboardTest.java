package io.pawl.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.PawlOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.core.JsonToken;
import tools.jackson.core.json.JsonFactory;

class DashboardTest {

  private static final Path DASHBOARD = Path.of("dashboards", "pawl.json");
  private static final Pattern NAME = Pattern.compile("pawl_[A-Za-z_]+");
  private static final Pattern LABEL = Pattern.compile("by \\(([a-z]+)\\)");

  private static Set<String> found(Pattern pattern, String text, int group) {
    return pattern
        .matcher(text)
        .results()
        .map((MatchResult match) -> match.group(group))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String scrape(Path directory) throws Exception {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    LockMeters meters = new LockMeters(registry);
    try (Pawl pawl =
        Pawl.connect(
            "sqlite:" + directory.resolve("locks"), PawlOptions.defaults().observer(meters))) {
      new StoreMeters(pawl).bindTo(registry);
      pawl.lock("orders:42").acquire().close();
      meters.storeFailed("orders:42", new StoreUnavailableException("no answer"));
      return registry.scrape();
    }
  }

  @Test
  void eachMetricAndTagOfTheDashboardExists(@TempDir Path directory) throws Exception {
    String dashboard = Files.readString(DASHBOARD);
    String scraped = scrape(directory);

    Set<String> metrics = found(NAME, dashboard, 0);
    assertThat(metrics).hasSizeGreaterThan(10);
    assertThat(found(Pattern.compile("(?m)^(pawl_[A-Za-z_]+)"), scraped, 1)).containsAll(metrics);
    assertThat(found(Pattern.compile("[{,]([a-z]+)="), scraped, 1))
        .containsAll(found(LABEL, dashboard, 1));
  }

  @Test
  void theDashboardIsJson() throws Exception {
    int panels = 0;
    try (var parser = new JsonFactory().createParser(Files.readString(DASHBOARD))) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        panels +=
            token == JsonToken.PROPERTY_NAME && parser.currentName().equals("gridPos") ? 1 : 0;
      }
    }
    assertThat(panels).isGreaterThan(8);
  }
}
