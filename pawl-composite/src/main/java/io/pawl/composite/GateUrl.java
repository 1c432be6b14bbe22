package io.pawl.composite;

import io.pawl.spi.StoreUrl;
import io.pawl.spi.UrlParameters;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;

/** A URL taken apart; {@link GateProvider} has the grammar. */
record GateUrl(GateOptions options, StoreUrl gate, StoreUrl truth) {

  private static final Set<String> PARAMETERS =
      Set.of("gatePatience", "gatePause", "soldOutKept", "settle", "refusesCallersIds");

  /**
   * @throws IllegalArgumentException naming what cannot be right, never a password
   */
  static GateUrl parse(StoreUrl url) {
    String rest = url.rest();
    GateOptions options = GateOptions.defaults();
    if (rest.startsWith("?")) {
      int end = rest.indexOf('|');
      if (end < 0) {
        throw url.wrong("write gate:?options|<URL of the gate>|<URL of the truth>");
      }
      options = options(url, rest.substring(1, end));
      rest = rest.substring(end + 1);
    }
    Matcher bar = StoreUrl.BAR.matcher(rest);
    if (!bar.find()) {
      throw url.wrong("write gate:<URL of the gate>|<URL of the truth>");
    }
    StoreUrl gate = StoreUrl.parse(rest.substring(0, bar.start()));
    StoreUrl truth = StoreUrl.parse(rest.substring(bar.end()));
    if (gate.scheme().equals("gate") || truth.scheme().equals("gate")) {
      throw url.wrong("a gate before a gate; name one gate and one truth");
    }
    boolean isPrivate = gate.scheme().equals("memory") && gate.rest().isEmpty();
    if (!isPrivate && gate.secret().equals(truth.secret())) {
      throw url.wrong("gate and truth are the same store; name two");
    }
    return new GateUrl(options, gate, truth);
  }

  private static GateOptions options(StoreUrl url, String query) {
    GateOptions usual = GateOptions.defaults();
    try {
      Map<String, String> given = UrlParameters.parse(query, PARAMETERS);
      return new GateOptions(
          UrlParameters.duration(given, "gatePatience", usual.gatePatience()),
          UrlParameters.duration(given, "gatePause", usual.gatePause()),
          UrlParameters.duration(given, "soldOutKept", usual.soldOutKept()),
          UrlParameters.duration(given, "settle", usual.settle()),
          UrlParameters.flag(given, "refusesCallersIds"));
    } catch (IllegalArgumentException e) {
      throw url.wrong(String.valueOf(e.getMessage()));
    }
  }
}
