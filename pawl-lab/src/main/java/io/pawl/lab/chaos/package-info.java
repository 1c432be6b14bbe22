/**
 * {@code ./pawl chaos}: worker JVMs use locks and counters in the shapes in which users do, while
 * servers, network and workers fail by a plan that follows from a seed. Three witnesses that do not
 * trust the library look on: a referee who is told of entries and exits, a register that checks
 * tokens, and one that does not, which has to show stale writes, or the faults did not bite. What
 * all saw is judged by {@code io.pawl.checker}.
 */
@NullMarked
package io.pawl.lab.chaos;

import org.jspecify.annotations.NullMarked;
