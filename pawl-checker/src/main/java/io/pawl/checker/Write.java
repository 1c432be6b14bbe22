package io.pawl.checker;

/**
 * One write to a resource that refuses tokens smaller than the largest it has seen.
 *
 * @param resource its name
 * @param number the place among the writes to this resource, in the order in which it decided
 * @param token what the writer showed
 * @param isAccepted whether it was written
 * @param wasValid whether the writer's lease was valid for certain when the resource decided
 */
public record Write(
    String resource, long number, long token, boolean isAccepted, boolean wasValid) {}
