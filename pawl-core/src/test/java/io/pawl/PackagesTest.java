package io.pawl;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Core's packages are layers: users' API, engine, seam. */
@AnalyzeClasses(packages = "io.pawl", importOptions = DoNotIncludeTests.class)
class PackagesTest {

  @ArchTest
  static final ArchRule coreNeedsTheJdkAndTwoSmallApis =
      classes()
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("io.pawl..", "java..", "org.jspecify..", "org.slf4j..");

  @ArchTest static final ArchRule errorsNeedNothing = only("io.pawl.error");

  @ArchTest
  static final ArchRule theSeamKnowsNeitherTheApiNorAStore = only("io.pawl.spi", "io.pawl.error");

  @ArchTest
  static final ArchRule theRulesKnowTheSeamAlone =
      only("io.pawl.spi.rule", "io.pawl.spi", "io.pawl.error");

  @ArchTest
  static final ArchRule theEngineKnowsNeitherTheApiNorAStore =
      only(
          "io.pawl.engine",
          "io.pawl.concurrent",
          "io.pawl.error",
          "io.pawl.options",
          "io.pawl.spi",
          "io.pawl.spi.rule");

  @ArchTest
  static final ArchRule memoryIsAStoreAsAnyOther =
      only(
          "io.pawl.memory",
          "io.pawl.concurrent",
          "io.pawl.error",
          "io.pawl.spi",
          "io.pawl.spi.rule");

  private static ArchRule only(String itself, String... others) {
    return classes()
        .that()
        .resideInAPackage(itself)
        .should()
        .onlyDependOnClassesThat(
            JavaClass.Predicates.resideInAnyPackage(others)
                .or(JavaClass.Predicates.resideInAPackage(itself))
                .or(JavaClass.Predicates.resideOutsideOfPackage("io.pawl..")));
  }
}
