package io.pawl.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Which module may see which, and the names that no class has; the CLI sees them all. */
@AnalyzeClasses(packages = "io.pawl", importOptions = DoNotIncludeTests.class)
class ModuleRulesTest {
  @ArchTest
  static final ArchRule sqlSeesCoreAndItsClientsButNoOtherStore =
      classes()
          .that()
          .resideInAPackage("io.pawl.sql..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "io.pawl",
              "io.pawl.concurrent",
              "io.pawl.counter",
              "io.pawl.error",
              "io.pawl.fence",
              "io.pawl.options",
              "io.pawl.spi..",
              "io.pawl.sql..",
              "java..",
              "javax.sql..",
              "org.jspecify..",
              "org.slf4j..",
              "org.postgresql..",
              "org.sqlite..",
              "tools.jackson.core..");

  @ArchTest
  static final ArchRule redisSeesCoreAndItsClientButNoOtherStore =
      classes()
          .that()
          .resideInAPackage("io.pawl.redis..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "io.pawl",
              "io.pawl.concurrent",
              "io.pawl.counter",
              "io.pawl.error",
              "io.pawl.fence",
              "io.pawl.options",
              "io.pawl.spi..",
              "io.pawl.redis..",
              "java..",
              "javax.net.ssl..",
              "org.jspecify..",
              "org.slf4j..",
              "io.lettuce.core..",
              "io.netty..");

  @ArchTest
  static final ArchRule compositesSeeTheSeamAndNoDriver =
      classes()
          .that()
          .resideInAPackage("io.pawl.composite..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "io.pawl",
              "io.pawl.concurrent",
              "io.pawl.counter",
              "io.pawl.error",
              "io.pawl.fence",
              "io.pawl.options",
              "io.pawl.spi..",
              "io.pawl.composite..",
              "java..",
              "org.jspecify..",
              "org.slf4j..");

  @ArchTest
  static final ArchRule mainCodeSeesNeitherTckNorLab =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.pawl.tck..", "io.pawl.lab..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.pawl.tck..", "io.pawl.lab..");

  @ArchTest
  static final ArchRule aNameSaysWhatTheClassIs =
      noClasses().should().haveNameMatching(".*(Manager|Helper|Utils?|Impl)");
}
