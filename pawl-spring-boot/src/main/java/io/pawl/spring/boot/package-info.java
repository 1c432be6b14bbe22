/** What Spring Boot makes of Pawl by itself: docs/SPRING.md. */
@NullMarked
package io.pawl.spring.boot;

import org.jspecify.annotations.NullMarked;
