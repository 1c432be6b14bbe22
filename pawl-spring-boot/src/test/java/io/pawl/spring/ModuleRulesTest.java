package io.pawl.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Which package of this module sees what; the CLI's rules do not reach it. */
@AnalyzeClasses(packages = "io.pawl.spring", importOptions = DoNotIncludeTests.class)
class ModuleRulesTest {

  @ArchTest
  static final ArchRule noTwoPackagesNeedEachOther =
      slices().matching("io.pawl.(**)").should().beFreeOfCycles();

  @ArchTest
  static final ArchRule annotationsSeeWhatUsersSeeAndNothingOfBoot =
      classes()
          .that()
          .resideInAPackage("io.pawl.spring")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "io.pawl",
              "io.pawl.error",
              "io.pawl.options",
              "io.pawl.sql",
              "io.pawl.spring",
              "java..",
              "javax.sql..",
              "org.aopalliance..",
              "org.jspecify..",
              "org.reactivestreams..",
              "org.slf4j..",
              "org.springframework.aop..",
              "org.springframework.aot.hint.annotation..",
              "org.springframework.beans..",
              "org.springframework.context..",
              "org.springframework.core..",
              "org.springframework.dao..",
              "org.springframework.expression..",
              "org.springframework.format..",
              "org.springframework.jdbc..",
              "org.springframework.scheduling.annotation..",
              "org.springframework.transaction..",
              "org.springframework.util..",
              "reactor.core..",
              "reactor.util..");

  @ArchTest
  static final ArchRule theEngineIsNobodysHere =
      noClasses().should().dependOnClassesThat().resideInAnyPackage("io.pawl.engine..");

  @ArchTest
  static final ArchRule aNameSaysWhatTheClassIs =
      noClasses().should().haveNameMatching(".*(Manager|Helper|Utils?|Impl)");
}
