package io.pawl.quorum;

import io.pawl.spi.Standing;
import java.util.concurrent.CompletableFuture;

/**
 * What the engine asks of a claim, until a majority has told, or it took too long.
 *
 * @param from only answers to requests sent then or later count
 * @param until by then it is answered with what is known
 * @param downgrades whether a writer becomes a reader by it
 */
record Question(
    QuorumClaim claim,
    long from,
    long until,
    boolean downgrades,
    CompletableFuture<Standing> answer) {}
