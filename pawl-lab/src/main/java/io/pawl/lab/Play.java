package io.pawl.lab;

import io.pawl.lab.report.Result;
import io.pawl.lab.report.Result.Run;
import io.pawl.lab.stage.Finding;
import io.pawl.lab.stage.Ground;
import io.pawl.lab.stage.Specimen;
import io.pawl.lab.stage.Stage;
import io.pawl.lab.stage.Verdict;

/** Plays specimens, each side on a stage of its own. */
final class Play {

  private final Ground ground;
  private int plays;

  Play(Ground ground) {
    this.ground = ground;
  }

  Result of(Specimen specimen) {
    plays++;
    String server = ground.version(specimen.service()); // which starts it, before the clocks do
    String name = "lab-" + specimen.id() + "-" + plays;
    Run algorithm = run(name, specimen::play);
    return new Result(specimen, server, algorithm, run(name + "-pawl", specimen::pawl));
  }

  @FunctionalInterface
  private interface Schedule {
    Finding on(Stage stage) throws Exception;
  }

  private Run run(String name, Schedule schedule) {
    Stage stage = new Stage(ground, name);
    Finding finding;
    try (stage) {
      finding = schedule.on(stage);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      finding = notPlayed(e);
    } catch (Exception e) {
      finding = notPlayed(e);
    }
    return new Run(finding, stage.trace());
  }

  private static Finding notPlayed(Exception e) {
    return new Finding(Verdict.NOT_PLAYED, e.toString(), "exception");
  }
}
