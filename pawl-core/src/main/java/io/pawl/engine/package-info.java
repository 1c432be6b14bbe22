/**
 * The way of one request, from a user's call to the store and back. Not exported.
 *
 * <pre>
 *   DistributedLock.acquire()                    the user's thread
 *        │
 *   Requests.acquire ─► tryAcquire ─► Waiter     one request: a thread that parks, or a future
 *        │
 *   Registry.enter ─► LocalQueue.enter(waiter)   one queue per lock, mode and options of this client
 *        │               │
 *        │               ├─ a hold is open ───► Loan ─► Waiter ─► Lease         no round trip
 *        │               └─ QueueClaims.makeFresh ─► LiveClaim  this client's claim at the store
 *        │
 *   Effects.performLocally, then Engine.call     what the queue decided, done without its mutex
 *        │
 *   LiveClaim.ask ─► LockStore.attempt           one round trip
 *        │
 *   LiveClaim.answered(standing)
 *        ├─ held ────► LocalQueue.granted ─► Hold ─► Loan ─► Waiter.wake, which unparks ─► Lease
 *        ├─ waiting ─► LocalQueue.isWaiting, and Renewer keeps the place alive
 *        │              └─ LiveClaim.ring brings "held": it is the Bell of attempt, and the store
 *        │                 calls it; where that is lost, the next question does
 *        ├─ gone ────► LocalQueue.refused, and whoever still waits asks anew
 *        ├─ of another kind ─► LocalQueue.failed
 *        └─ failed ──► asked again, for the client's patience; then LocalQueue.failed
 *
 *   Renewer                                      one timer for all claims; renews in batches
 *        └─ LiveClaim.renewed: the store knows it no longer; loseIfDue: its deadline passed, as
 *             the timer finds, or Lease.isValid ─► Loan.isTrusted
 *             └─ LocalQueue.lost ─► Loan.lose ─► Event: hooks at once, users' callbacks later
 *
 *   Lease.close() ─► Loan.giveBack ─► LocalQueue.release
 *        ├─ somebody waits, and the run is not over ─► the hold goes on under the next token
 *        └─ else ─► LiveClaim.end ─► Withdrawal ─► LockStore.withdraw, until confirmed
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
