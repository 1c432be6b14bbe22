/** Meters of locks, stores and counters for Micrometer, and spans of waits and holds. */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module io.pawl.micrometer {
  requires transitive io.pawl;
  requires static org.jspecify;
  requires org.slf4j;
  requires transitive micrometer.core;
  requires static transitive micrometer.tracing;

  exports io.pawl.micrometer;
}
