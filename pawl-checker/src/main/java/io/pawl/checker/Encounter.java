package io.pawl.checker;

/**
 * A referee saw one holder come in while another one had not left. It needs no clock: the two wrote
 * to the same memory.
 *
 * @param visitor the one who came in
 * @param occupant the one who had not left
 */
public record Encounter(Tenure visitor, Tenure occupant) {}
