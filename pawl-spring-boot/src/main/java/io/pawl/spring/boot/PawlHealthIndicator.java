package io.pawl.spring.boot;

import io.pawl.Pawl;
import io.pawl.spring.JobState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Up while the store answers and no job is overdue. One round trip; takes the client's patience and
 * the store's answer time where it does not answer, or as long as a JDBC driver takes to fail once.
 */
final class PawlHealthIndicator extends AbstractHealthIndicator {

  /** A lock that nobody takes. */
  private static final String NAME = "pawl:health";

  private final Pawl pawl;
  private final Supplier<List<JobState>> jobs;

  PawlHealthIndicator(Pawl pawl, Supplier<List<JobState>> jobs) {
    super("the store of the locks does not answer");
    this.pawl = pawl;
    this.jobs = jobs;
  }

  @Override
  protected void doHealthCheck(Health.Builder health) {
    health.withDetail("client", pawl.toString());
    pawl.oldestRenewal().ifPresent(oldest -> health.withDetail("oldestRenewal", asDetail(oldest)));
    List<JobState> overdue = jobs.get().stream().filter(JobState::overdue).toList();
    if (!overdue.isEmpty()) {
      health.withDetail(
          "overdueJobs", overdue.stream().map(PawlHealthIndicator::asDetail).toList());
    }
    try {
      pawl.inspect(NAME);
      health.up();
    } catch (UnsupportedOperationException e) {
      health.unknown();
    }
    if (!overdue.isEmpty()) {
      health.down();
    }
  }

  private static Map<String, Object> asDetail(Pawl.Renewal oldest) {
    Map<String, Object> detail = new LinkedHashMap<>();
    detail.put("lock", oldest.lock());
    detail.put("age", oldest.age().toString());
    detail.put("lease", oldest.lease().toString());
    return detail;
  }

  private static Map<String, Object> asDetail(JobState job) {
    Map<String, Object> detail = new LinkedHashMap<>();
    detail.put("job", job.job());
    detail.put("quietFor", job.quietFor().toString());
    if (job.runningFor() != null) {
      detail.put("runningFor", job.runningFor().toString());
    }
    return detail;
  }
}
