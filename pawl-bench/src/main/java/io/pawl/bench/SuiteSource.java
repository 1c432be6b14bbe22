package io.pawl.bench;

import java.util.List;

/** Where suites come from. Found by the service loader. */
public interface SuiteSource {

  List<Suite> suites();
}
