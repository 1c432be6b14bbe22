package io.pawl.bench.suite;

import io.pawl.bench.BenchException;
import io.pawl.bench.Settings;
import io.pawl.bench.Suite;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Sample;
import io.pawl.bench.report.Section;
import io.pawl.bench.report.Side;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Single operations, by JMH; {@code --only} takes a regular expression. */
final class JmhSuite implements Suite {

  private static final int ITERATIONS = 3;

  @Override
  public String name() {
    return "jmh";
  }

  @Override
  public String purpose() {
    return "single operations: a lease in memory, also by annotation or with meters, the grant rule, a row";
  }

  @Override
  public List<Section> measure(Settings settings, Consumer<String> progress) {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("io\\.pawl\\.bench\\.micro\\.(?=.*" + settings.only() + ").*Benchmark")
            .forks(settings.forks())
            .warmupIterations(ITERATIONS)
            .warmupTime(TimeValue.milliseconds(Math.round(settings.warmUpSeconds() * 1e3)))
            .measurementIterations(ITERATIONS)
            .measurementTime(
                TimeValue.milliseconds(
                    Math.round(settings.secondsOr(Settings.USUAL_SECONDS) * 1e3)))
            .jvmArgsAppend(settings.jvmArguments().toArray(String[]::new))
            .shouldFailOnError(true)
            .verbosity(VerboseMode.SILENT);
    progress.accept("jmh: running, silently");
    List<Side> sides = new ArrayList<>();
    for (RunResult run : results(options)) {
      Result<?> result = run.getPrimaryResult();
      Sample sample =
          new Sample(
              Map.of(
                  Metric.OPERATION_NANOS,
                  result.getScore(),
                  Metric.ERROR_NANOS,
                  result.getScoreError()));
      sides.add(new Side(title(run), List.of(sample)));
    }
    return List.of(new Section(name(), "single operations", sides, List.of(), List.of()));
  }

  private static Collection<RunResult> results(ChainedOptionsBuilder options) {
    try {
      return new Runner(options.build()).run();
    } catch (RunnerException e) {
      throw new BenchException("JMH failed: " + e.getMessage(), e);
    }
  }

  /** Class and method, and the parameters' values. */
  private static String title(RunResult run) {
    String full = run.getParams().getBenchmark();
    int method = full.lastIndexOf('.');
    StringBuilder title = new StringBuilder(full.substring(full.lastIndexOf('.', method - 1) + 1));
    for (String key : run.getParams().getParamsKeys()) {
      title.append(", ").append(run.getParams().getParam(key)).append(' ').append(key);
    }
    return title.toString();
  }
}
