/**
 * The way of one request, from a user's call to the store and back. Not exported.
 *
 * <pre>
 *   DistributedLock.acquire()                                       the user's thread
 *        │
 *   Requests.tryAcquire ─► Waiter            one request: a thread that parks, or a future
 *        │
 *   Engine.enter ─► Line.enter(waiter)       one line per lock, mode and options of this client
 *        │             │
 *        │             ├─ a hold lies free ─────────────► Loan ─► Waiter ─► Lease   no round trip
 *        │             └─ LineClaims.make ─► LiveClaim    one request of this client at the store
 *        │
 *   Steps.take                               what the line has decided, done without its mutex
 *        │
 *   LiveClaim.ask ─► LockStore.attempt       one round trip
 *        │
 *   LiveClaim.answered(standing)
 *        ├─ held ────► Line.granted ─► Hold ─► Loan ─► Waiter.wake ─► Lease
 *        ├─ waiting ─► Line.inLine, and Renewer keeps the place alive
 *        │              └─ LiveClaim.ring, or the next question, brings "held"
 *        └─ gone ────► Line.refused, and whoever still waits asks anew
 *
 *   Renewer                                  one timer for all claims; renews those due in batches
 *        └─ LiveClaim.renewed ─ a deadline passed, or the store knows it no longer
 *             └─ Line.lost ─► Loan.lose ─► Event: hooks at once, users' callbacks on their executor
 *
 *   Lease.close() ─► Loan.giveBack ─► Line.release
 *        ├─ somebody waits here ─► the hold goes on under the next token, no round trip
 *        └─ nobody does ─► LiveClaim.end ─► Withdrawal ─► LockStore.withdraw, until it is confirmed
 * </pre>
 *
 * <p>Several locks are {@code GroupAcquisition}, rounds of such requests, and {@code GroupLoan},
 * their loans together. Each mutex guards state alone: the store, another line and users' code are
 * called after it was released.
 */
@NullMarked
package io.pawl.engine;

import org.jspecify.annotations.NullMarked;
