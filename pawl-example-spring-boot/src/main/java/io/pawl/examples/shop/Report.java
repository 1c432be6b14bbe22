package io.pawl.examples.shop;

import io.pawl.spring.ScheduledOnce;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Writes a report each night, once, however many instances there are. */
@Component
class Report {

  private final JdbcClient database;

  Report(JdbcClient database) {
    this.database = database;
  }

  @Scheduled(cron = "${shop.report.cron}")
  @ScheduledOnce(name = "report", minHold = "${shop.report.at-most-every}")
  @Transactional
  public void write() {
    database
        .sql("INSERT INTO report (total) SELECT COALESCE(SUM(balance), 0) FROM account")
        .update();
  }
}
