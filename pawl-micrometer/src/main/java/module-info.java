/** Meters of locks, stores and counters for Micrometer. */
@SuppressWarnings("requires-transitive-automatic")
module io.pawl.micrometer {
  requires transitive io.pawl;
  requires static org.jspecify;
  requires transitive micrometer.core;

  exports io.pawl.micrometer;
}
