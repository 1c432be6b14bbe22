package io.pawl.bench;

import io.pawl.bench.report.Numbers;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the figures depend on, and must be told with them. */
final class Machine {

  private Machine() {}

  static Map<String, String> facts(Settings settings) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    facts.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
    facts.put("cpu", processor());
    facts.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    facts.put("java", System.getProperty("java.vm.name") + " " + Runtime.version());
    facts.put("loadBefore", Numbers.show(load()));
    facts.put("forks", Integer.toString(settings.forks()));
    facts.put("seconds", Numbers.show(settings.secondsOr(Settings.USUAL_SECONDS)));
    facts.put("warmUpSeconds", Numbers.show(settings.warmUpSeconds()));
    facts.put("jvmArguments", String.join(" ", settings.jvmArguments()));
    return facts;
  }

  /** Processes that wanted to run in the last minute; above 0.5 the figures are provisional. */
  static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  private static String processor() {
    Path info = Path.of("/proc/cpuinfo");
    if (!Files.isReadable(info)) {
      return System.getProperty("os.arch", "");
    }
    try {
      return Files.readAllLines(info).stream()
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch", ""));
    } catch (IOException e) {
      return System.getProperty("os.arch", "");
    }
  }
}
