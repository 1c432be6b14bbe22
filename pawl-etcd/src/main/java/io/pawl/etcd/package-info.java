/**
 * The store on etcd.
 *
 * <h2>Keys</h2>
 *
 * Below the namespace, with {@code %} and {@code /} in names encoded:
 *
 * <ul>
 *   <li>{@code claim/<lock>/x/<client>.<number>}: a claim, held or waiting, made as a writer;
 *       {@code s/} a reader's, {@code p/} one for permits. Attached to an etcd lease.
 *   <li>{@code kind/<lock>}: the kind, kept 10 to 20 minutes after the last use.
 *   <li>{@code withdrawn/<lock>/<client>.<number>}: what is left of a claim whose attempt may still
 *       be on its way, for 60 s at least.
 *   <li>{@code pass/<name>}: what a client's attempts rely on, see {@link
 *       io.pawl.etcd.SharedLease}. Attached to the same etcd lease as their claims.
 *   <li>{@code fence/<key>}: the largest token that {@link io.pawl.etcd.EtcdFence} has seen.
 * </ul>
 *
 * <h2>One holder (P1)</h2>
 *
 * The claims of a lock have one order, that of their create revisions, and {@link
 * io.pawl.spi.rule.QueueRule} says of each whether it is held by what stands before it. Nothing can
 * be inserted before a claim and nothing before it returns, so a claim that was held at one
 * revision is held at every later one while its key exists. Two clients that look at different
 * times can therefore not both find themselves held unless the key of one is gone.
 *
 * <p>A key goes when its client deletes it, when somebody evicts it, or when its etcd lease ends.
 * Of the last the client has to be ahead: a claim's answer promises its lease L from the moment t
 * at which its request was made. The etcd lease has a time T &gt; L, and etcd keeps it until k + T
 * at least, whoever leads; so the promise holds where t − k ≤ T − L. {@link
 * io.pawl.etcd.SharedLease} says which k that is and why. It keeps the lease alive often enough,
 * and where it did not (a pause, a slow network), a claim's request waits until a keep-alive made
 * after it counts. A completion is never taken for later than its request. Clock rates may differ
 * by 1 %: T − L is taken 1 % shorter here, and L by the engine.
 *
 * <p>A grant told by a bell promises nothing anew: the engine counts from its last question.
 *
 * <p>Claims share an etcd lease, which this client keeps alive for others of them; so a claim whose
 * owner fell silent is deleted by this client, a whole L after it was last heard of. Whatever was
 * sent and may exist stays on the list of {@link io.pawl.etcd.Claims} until it was seen gone or its
 * withdrawal is done, which deletes the pass of every attempt that was not answered: from then on
 * none of them can take effect.
 *
 * <h2>Tokens (P2)</h2>
 *
 * A hold has the tokens from 1024 times its create revision on. Create revisions grow with the
 * order of claims, and claims of a lock are granted in their order.
 *
 * <h2>Someone gets in (P6)</h2>
 *
 * Whoever waits knows the claim that stands in its way, as of revision r, and watches from r + 1. A
 * deletion in between is either told by the watch, or the watch is ahead of r, in which case it is
 * looked again. If events are lost or compacted, the engine's question every 2 s finds the grant.
 */
@NullMarked
package io.pawl.etcd;

import org.jspecify.annotations.NullMarked;
