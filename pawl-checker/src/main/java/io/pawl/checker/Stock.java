package io.pawl.checker;

/**
 * What a counter had before and after a run, read past whatever is judged.
 *
 * @param counter the counter's name
 * @param before its value before the first take
 * @param floor what it must never be below
 * @param after its value after the last one
 */
public record Stock(String counter, long before, long floor, long after) {}
