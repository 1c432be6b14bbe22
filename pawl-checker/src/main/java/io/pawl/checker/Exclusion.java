package io.pawl.checker;

import io.pawl.checker.Tenure.End;
import io.pawl.checker.Verdict.Findings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** Leases that are valid at once fit into their lock together. */
final class Exclusion {

  static final String PROMISE = "P1 one holder: leases that are valid at once fit together";

  private Exclusion() {}

  static Verdict judge(History history) {
    Findings findings = new Findings(PROMISE);
    Map<String, List<Tenure>> locks = Groups.by(Tenure::lock, history.tenures());
    locks.values().forEach(tenures -> overlaps(tenures, findings));
    history.encounters().forEach(met -> check(met, findings));
    return findings.verdict();
  }

  private static void overlaps(List<Tenure> tenures, Findings findings) {
    List<Tenure> inOrder = new ArrayList<>(tenures);
    inOrder.removeIf(tenure -> tenure.valid().isEmpty());
    inOrder.sort(Comparator.comparingLong(tenure -> tenure.valid().from()));
    List<Tenure> open = new ArrayList<>();
    for (Tenure next : inOrder) {
      open.removeIf(before -> before.valid().until() < next.valid().from());
      long used = next.share().units();
      for (Tenure before : open) {
        used += before.share().units();
      }
      if (used > next.share().capacity()) {
        findings.add(
            "%s was valid from %d ns, and so was %s, until %d ns",
            next, next.valid().from(), open, longest(open).valid().until());
      }
      open.add(next);
    }
  }

  private static Tenure longest(List<Tenure> open) {
    return open.stream()
        .max(Comparator.comparingLong(tenure -> tenure.valid().until()))
        .orElseThrow();
  }

  /** Whoever was released was inside with every right, from its entry to its exit. */
  private static void check(Encounter met, Findings findings) {
    boolean bothHeld = met.visitor().end() == End.RELEASED && met.occupant().end() == End.RELEASED;
    boolean fit =
        (long) met.visitor().share().units() + met.occupant().share().units()
            <= met.visitor().share().capacity();
    if (bothHeld && !fit) {
      findings.add("%s met %s inside", met.visitor(), met.occupant());
    }
  }
}
