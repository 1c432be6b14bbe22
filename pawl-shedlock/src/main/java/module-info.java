/** A lock provider for ShedLock on Pawl's stores. */
module io.pawl.shedlock {
  requires transitive io.pawl;
  requires static org.jspecify;
  requires org.slf4j;
  requires transitive net.javacrumbs.shedlock.core;

  exports io.pawl.shedlock;
}
