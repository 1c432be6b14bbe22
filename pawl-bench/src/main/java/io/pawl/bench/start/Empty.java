package io.pawl.bench.start;

/** The least that a Java program can do. */
final class Empty {

  private Empty() {}

  public static void main(String[] arguments) {}
}
