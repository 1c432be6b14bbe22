package io.pawl.quorum;

import io.pawl.spi.Diagnosable;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.QuorumNode.Incarnation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is to be said of the nodes together, and then of each. */
record QuorumDoctor(List<Node> nodes, QuorumInspection inspection, QuorumOptions options) {

  List<Finding> examine() {
    Duration patience = options.nodeTimeout().multipliedBy(4);
    List<Finding> findings = new ArrayList<>();
    int voters = 0;
    List<@Nullable Incarnation> who = inspection.incarnations(patience);
    for (int i = 0; i < nodes.size(); i++) {
      Incarnation incarnation = who.get(i);
      String name = name(i) + " " + nodes.get(i).describe();
      if (incarnation == null) {
        findings.add(
            new Finding(
                Level.WARNING,
                name + " does not answer; the others carry on",
                "start it, or look at the network: one failure less can be stood until then"));
      } else if (incarnation.votesIn().isZero() && !incarnation.raised()) {
        findings.add(
            new Finding(
                Level.WARNING,
                name
                    + " has forgotten its tokens and votes once a client has told it those of a"
                    + " majority of the others: "
                    + incarnation.server(),
                "start the others, and a client; in a new quorum, initialize it"));
      } else if (incarnation.votesIn().isZero()) {
        voters++;
        findings.add(new Finding(Level.OK, name + " votes: " + incarnation.server(), ""));
      } else {
        findings.add(
            new Finding(
                Level.WARNING,
                name
                    + " may have forgotten claims and votes in "
                    + incarnation.votesIn().toSeconds()
                    + " s: "
                    + incarnation.server(),
                "wait; in a new quorum that nobody uses yet, initialize it"));
      }
    }
    findings.add(0, sum(voters));
    for (String same : inspection.sameServers(patience)) {
      findings.add(new Finding(Level.PROBLEM, same, "name each server once"));
    }
    for (int i = 0; i < nodes.size(); i++) {
      String name = name(i);
      Diagnosable node = nodes.get(i).as(Diagnosable.class);
      if (node != null && who.get(i) != null) {
        for (Finding each : findings(node)) {
          findings.add(new Finding(each.level(), name + ": " + each.what(), each.fix()));
        }
      }
    }
    return findings;
  }

  /** Of a node that cannot be examined, just that: it keeps nobody from hearing of the others. */
  private static List<Finding> findings(Diagnosable node) {
    try {
      return node.diagnose();
    } catch (RuntimeException e) {
      String what = "cannot be examined: " + e.getMessage();
      return List.of(new Finding(Level.WARNING, what, "ask the doctor of that node alone"));
    }
  }

  private Finding sum(int voters) {
    int majority = nodes.size() / 2 + 1;
    String what =
        voters
            + " of "
            + nodes.size()
            + " nodes vote, "
            + majority
            + " have to; longestLease "
            + options.longestLease().toSeconds()
            + " s";
    return voters >= majority
        ? new Finding(Level.OK, what, "")
        : new Finding(Level.PROBLEM, what, "start more nodes, or wait until they vote");
  }

  private static String name(int node) {
    return "node " + (node + 1);
  }
}
