package io.pawl.lab.report;

import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Trace;
import io.pawl.lab.stage.Verdict;

/**
 * One specimen, played.
 *
 * @param server name and version
 */
public record Result(Specimen specimen, String server, Run algorithm, Run pawl) {

  /** One side of it. */
  public record Run(Finding finding, Trace trace) {

    Verdict verdict() {
      return finding.verdict();
    }
  }

  /** Returns whether the schedule was played on both sides, and Pawl stood. */
  public boolean isAsPromised() {
    return algorithm.verdict() != Verdict.NOT_PLAYED && pawl.verdict() == Verdict.STANDS;
  }
}
