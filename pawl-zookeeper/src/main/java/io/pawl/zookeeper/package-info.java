/**
 * Locks on ZooKeeper.
 *
 * <pre>
 * /pawl/locks                            persistent
 * /pawl/locks/{lock}                     container: kind=lock, or semaphore of 5
 * ../w-{claim id}-{session}-{number}     a claim: ephemeral, sequential
 * ../wk-{claim id}-{session}-{number}    a claim with a shortest hold: persistent, sequential
 * ../a-{claim id}-{session}              says that its client lives: ephemeral
 * </pre>
 *
 * {@code w} is a writer, {@code r} a reader, {@code p3} wants three permits. A lock's name is
 * percent-encoded. The session is the one that made the node, in hexadecimal digits. The data of a
 * claim's node are its mode, lease, shortest hold and holder.
 *
 * <p><b>Who holds</b> follows from the order of the numbers alone ({@link
 * io.pawl.spi.rule.QueueRule}). What stands before a claim only shrinks, since numbers only grow:
 * so a claim lists the queue when it joins, and then watches as little of what was before it as it
 * must wait for ({@code Line}); when some of that has gone, it lists what is left of the rest. A
 * list or a look at a node that is out of date shows claims that have ended since, never the
 * reverse: it delays, and the watch that was set with it tells. One exception is a writer that has
 * become a reader, whose data says so and are watched like its end; taken for a writer, it delays
 * as well.
 *
 * <p>A claim that wants the whole lock watches one more than it must wait for, so that it lists
 * while the holder still holds, and knows what stands before it when the holder goes. Exclusive
 * claims of one client that stand directly behind each other stay so, as numbers only grow: a grant
 * names those behind it ({@code Followers}), and the engine serves them under that hold.
 *
 * <p><b>One holder (P1).</b> Two claims hold together only where one has gone that its client still
 * trusts. A client trusts a claim for its lease from before the last answered request was sent. So
 * the service has to keep a session for at least a lease from when any answered request was
 * <em>sent</em>. What it guarantees is less: it keeps a session for its time-out from when the
 * <em>leader</em> heard of it last, and rounds that up to a tick. A follower tells the leader whom
 * it has heard of when the leader asks, twice a tick; what a follower has not told when it dies is
 * lost, and for as long as the leader's words do not reach it ({@code syncLimit}) it serves its
 * clients and tells nothing. Hence:
 *
 * <ul>
 *   <li>Attempts, renewals and withdrawals are transactions, to which a majority agrees: also
 *       renewals, of which one transaction checks that up to 200 nodes are there, and changes
 *       nothing. Reads prove nothing: a follower that has lost its leader, or a leader that has
 *       lost its majority, answers them for a while, as it may answer {@code sync}. A new leader
 *       keeps all sessions for their whole time-out from its start, which is later than any
 *       transaction of the old one.
 *   <li>A session sends a {@code sync}, which the leader answers, every ⅜ of a tick. A request of a
 *       verb is sent only if one that was sent at most 1¾ ticks ago was answered, and another that
 *       was sent ⅝ of a tick after that answer or later has been answered too, by the same
 *       connection. Between the two answers the leader has asked the follower, whose reply, which
 *       names the session, is on its way before the request: so the leader keeps the session from
 *       the first one on, or refuses the request. Where that is not so (after a pause, a new
 *       connection, or as long as the leader says nothing), the request waits until it is. This
 *       relies on a leader that answers to ask its followers every half tick, as it does, and on a
 *       server that follows the leader itself: one behind an ObserverMaster does not.
 *   <li>A session outlasts its lease by 1¾ ticks. Each length of lease has a session of its own, so
 *       that a crash delays others by little more than its lease: that, and a tick by rounding.
 *       Bounds of the ensemble that do not allow this are an error before a node is made.
 *   <li>A bell that says <em>held</em> is covered by the waiter's last answered question, as in any
 *       store; for that, waiting claims are renewed as held ones are.
 *   <li>A session counts the claims that are made or stand under it: it is handed out and counted,
 *       or found unused and retired, in one step. So it is never closed under a claim that somebody
 *       trusts. Where it has to end all the same, it is left to run out. What is answered to a
 *       claim after its session has ended makes it neither wait nor hold.
 *   <li>A session lives as long as its process, so claims of which the engine does not speak for
 *       their lease are ended by the store object itself.
 * </ul>
 *
 * <p><b>Permits.</b> A claim that stands behind others which wait for the same permits is not held
 * before them. So of those of one session only the first few look at what stands before them
 * ({@code Followers}), and share their looks: hundreds that wait for hundreds of permits would
 * otherwise each read as many nodes.
 *
 * <p>The number of permits is data of the lock's node, which a waiter watches. The sign of a change
 * comes before anything that was written later, so a waiter that has been told of it grants itself
 * nothing until it has read the new number; one whose read failed reads it at its next renewal, as
 * a sign may be lost.
 *
 * <p><b>Tokens (P2)</b> are the transaction numbers of the claims' own nodes ({@code ZxidTokens}).
 *
 * <p><b>Someone gets in (P6).</b> A watch is set by the same request that finds a node there, so no
 * end is missed between the two; a client that reconnects sets its watches anew and is told of what
 * it missed. Should a sign be lost all the same, each renewal of a waiter looks again.
 *
 * <p><b>Lost answers.</b> An attempt whose answer was lost is looked for by its claim's id, after
 * an empty transaction of the same session: an earlier request of the session has been carried out
 * by then or never will be, since servers carry out a session's requests in order, and the leader
 * refuses those that a server passes on after the session has moved away from it. It is adopted
 * only if the session that we have now made it, which its name says. An end whose answer was lost
 * is repeated until the node is seen gone, or its session has ended. Whatever belongs to a session
 * that has ended is lost, whether it is still listed or not: a claim that is repeated in a new
 * session takes a new place. The sign of a kept node names its session as well, so that the sign of
 * the new place never brings the older one to life. Ids of unsettled withdrawals are remembered by
 * the store object, through which alone an attempt of them could come.
 *
 * <p><b>Shortest holds</b> outlive sessions, so the node of such a claim is persistent, and an
 * ephemeral one beside it says that its client lives. When the client has heard of the grant it
 * writes that into the node, whose time of change the shortest hold counts from. A node whose
 * client is gone stands until that time is over by the service's clock, or not at all if the client
 * had not heard. A waiter knows the service's time from the answer to its own write, and counts on
 * by its own clock, less a hundredth; what is over by that clock and not yet by the margin is
 * decided by another write. The client itself removes it when its time is over; whoever waits
 * behind it, or comes later, does so as well. That is why closing a client need not wait, and ends
 * no shortest hold.
 */
@NullMarked
package io.pawl.zookeeper;

import org.jspecify.annotations.NullMarked;
