/**
 * The way of one request, from a user's call to the store and back. Not exported.
 *
 * <pre>
 *   DistributedLock.acquire()                    the user's thread
 *        │
 *   Requests.tryAcquire ─► Waiter                one request: a thread that parks, or a future
 *        │
 *   Registry.enter ─► LocalQueue.enter(waiter)   one queue per lock, mode and options of this client
 *        │               │
 *        │               ├─ a hold lies free ──► Loan ─► Waiter ─► Lease        no round trip
 *        │               └─ QueueClaims.make ──► LiveClaim   this client's claim at the store
 *        │
 *   Effects.perform                              what the queue decided, done without its mutex
 *        │
 *   LiveClaim.ask ─► LockStore.attempt           one round trip
 *        │
 *   LiveClaim.answered(standing)
 *        ├─ held ────► LocalQueue.granted ─► Hold ─► Loan ─► Waiter.wake ─► Lease
 *        ├─ waiting ─► LocalQueue.isWaiting, and Renewer keeps the place alive
 *        │              └─ LiveClaim.ring, or the next question, brings "held"
 *        └─ gone ────► LocalQueue.refused, and whoever still waits asks anew
 *
 *   Renewer                                      one timer for all claims; renews in batches
 *        └─ LiveClaim.renewed: a deadline passed, or the store knows it no longer
 *             └─ LocalQueue.lost ─► Loan.lose ─► Event: hooks at once, users' callbacks later
 *
 *   Lease.close() ─► Loan.giveBack ─► LocalQueue.release
 *        ├─ somebody waits here ─► the hold goes on under the next token, no round trip
 *        └─ nobody does ─► LiveClaim.end ─► Withdrawal ─► LockStore.withdraw, until confirmed
 * </pre>
 *
 * <p>The deadline of a lease is {@code Validity}'s. Several locks are {@code GroupAcquisition},
 * rounds of such requests, and {@code GroupLoan}, their loans together. {@code StrictBlock} serves
 * strict waiters that stand behind one another, {@code Lifecycle} ends a client. Each mutex guards
 * state alone: the store, another queue and users' code are called after it was released.
 */
@NullMarked
package io.pawl.engine;

import org.jspecify.annotations.NullMarked;
