/** Judges histories of locks and counters, whoever made them. */
module io.pawl.checker {
  requires static transitive org.jspecify;

  exports io.pawl.checker;
}
