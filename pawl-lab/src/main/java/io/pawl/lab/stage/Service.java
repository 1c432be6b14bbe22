package io.pawl.lab.stage;

/** What a specimen runs on. */
public enum Service {
  REDIS("Redis"),
  MYSQL("MySQL"),
  POSTGRES("PostgreSQL"),
  ZOOKEEPER("ZooKeeper"),
  ETCD("etcd");

  private final String title;

  Service(String title) {
    this.title = title;
  }

  public String title() {
    return title;
  }
}
