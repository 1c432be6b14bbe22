/** How frameworks make one client for an application, and close it. Shown in docs/FRAMEWORKS.md. */
@NullMarked
package io.pawl.examples.wiring;

import org.jspecify.annotations.NullMarked;
