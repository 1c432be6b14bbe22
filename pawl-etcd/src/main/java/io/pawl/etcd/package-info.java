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
 *       be on its way, for 90 s at least.
 *   <li>{@code pass/<name>}: what a client's attempts rely on, see {@link io.pawl.etcd.Passes}.
 *       Attached to the same etcd lease as their claims.
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
 * <p>A client that watches a lock by itself has a {@link io.pawl.etcd.QueueMirror} of its claims:
 * what a linearizable read found at revision r, and every later event, in their order. The watch
 * began at r + 1 or before, or the read would not have been made; where it ends, the mirror does.
 * So when the mirror has a claim that was created at c, it has heard of all that was created before
 * c and is still there at the revision that it has come to. The first claim of the mirror is held
 * at that revision if it is exclusive, and, as was said, at every later one while its key exists.
 * Claims of this client that follow it there without a gap stood directly behind it at its grant.
 *
 * <p>Claims share an etcd lease, which this client keeps alive for others of them; so a claim whose
 * owner fell silent is deleted by this client, a whole L after it was last heard of. Whatever was
 * sent and may exist stays on the list of {@link io.pawl.etcd.Claims} until it was seen gone or its
 * withdrawal is done, which deletes the pass of every attempt that was not answered: from then on
 * none of them can take effect.
 *
 * <h2>Late requests</h2>
 *
 * A request that was not answered may arrive at any later time, and so may a copy that somebody on
 * the way made of one that was. Each is harmless for what it compares:
 *
 * <table>
 * <caption>Requests that change something</caption>
 * <tr><th>request<th>compares<th>why a late copy is harmless
 * <tr><td>attempt<td>the claim's key is absent, its withdrawal is, its pass exists; what is
 *     believed of the kind
 *     <td>The claim exists: refused. It was withdrawn while its attempt was in doubt: its pass is
 *     gone, and names of passes are used once. It ended otherwise while its attempt was in doubt:
 *     the copy makes it again, in nobody's way but for its place; its client was told
 *     <em>gone</em>, and withdraws it. The attempt was answered and the claim has ended: see below.
 * <tr><td>put of a pass<td>nothing
 *     <td>Attempts rely on a pass only once its put was answered. A late one is relied upon by
 *     nobody and ends with the lease. A copy of one that was answered may bring back a pass that a
 *     withdrawal deleted: see below.
 * <tr><td>move to another lease, lease of its own, downgrade<td>the mod revision of the key as it
 *     was read; a downgrade the kind too
 *     <td>A standing is told only of a key that was put later than what any change compares, see
 *     {@link io.pawl.etcd.Rewrites}.
 * <tr><td>withdrawal<td>the create revision, or that the key exists where no revision is known
 *     <td>Claims are used once: nobody is told of this one any more. A pass that is deleted is
 *     missed by others' attempts, which are made again. The key that tells of it ends by itself.
 * <tr><td>withdrawal before the shortest hold is over<td>the mod revision
 *     <td>As a move; nobody is told of the claim any more. After the deletion the key is absent.
 * <tr><td>kind of a held lock<td>its value, and that it was not put since it was read
 *     <td>After a newer put it is refused, and so never leaves the kind on a lease that ends
 *     sooner. Where the kind is absent, it is put as it was.
 * <tr><td>{@code setKind}<td>the mod revision of the kind; if permits are taken away that of every
 *     claim
 *     <td>Refused after any other change. Who asked was told that the outcome is unknown.
 * <tr><td>eviction<td>the create revision
 *     <td>It ends the one hold that was meant.
 * <tr><td>fence<td>that no larger token was seen, and that none was put since the last answer
 *     <td>Refused after any later write of the same {@link io.pawl.etcd.EtcdFence}.
 * <tr><td>grant of a lease<td>its id is new
 *     <td>Nobody attaches a key to it; it runs out.
 * <tr><td>keep-alive<td>nothing<td>It lengthens what nobody needs. Counted is when it was sent.
 * <tr><td>revocation of a lease<td>nothing
 *     <td>Sent when no claim needs the lease, which is not used again.
 * </table>
 *
 * <p>One copy is not harmless. A withdrawal deletes no pass of an attempt that was answered, as
 * others rely on it. A copy of such an attempt that arrives after the claim's end makes the claim
 * again if the lock is of the same kind and, for an attempt that takes, free. Nobody is told of
 * that claim: its client asks for it by its create revision, or not at all. So it breaks neither P1
 * nor P2, but it stands in others' way until its lease ends, that is, until its client closes, has
 * had no claim of that length for a while or moves to another lease, or until somebody evicts it.
 * Pawl itself sends no attempt again that was answered; a proxy that repeats requests makes such
 * copies.
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
 * looked again. Where there is a mirror, each event tells who is first. If events are lost or
 * compacted, the engine's question every 2 s finds the grant.
 */
@NullMarked
package io.pawl.etcd;

import org.jspecify.annotations.NullMarked;
