package io.pawl.spring.boot;

/** Which of the application's services has the locks, where {@code pawl.url} names none. */
public enum StoreChoice {
  /** The database, or Redis if there is no database. */
  AUTO,
  /** The application's {@code DataSource}. */
  DATA_SOURCE,
  /** The Redis of the application's connection details. */
  REDIS
}
