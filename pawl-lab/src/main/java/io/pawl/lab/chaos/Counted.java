package io.pawl.lab.chaos;

/** A counter of the run. */
enum Counted {
  PLENTY(1_000_000_000),
  SCARCE(400);

  final long stock;

  Counted(long stock) {
    this.stock = stock;
  }

  String counter() {
    return "chaos-stock-" + name().toLowerCase(java.util.Locale.ROOT);
  }
}
