package io.pawl;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Map;
import java.util.stream.Collectors;

/** Core's packages are layers: users' API, engine, seam; and none is too large to look through. */
@AnalyzeClasses(packages = "io.pawl", importOptions = DoNotIncludeTests.class)
class PackagesTest {

  private static final int MOST_FILES = 30;

  @ArchTest
  static final ArchRule noTwoPackagesNeedEachOther =
      slices().matching("io.(**)").should().beFreeOfCycles();

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

  @ArchTest
  static void noPackageHasMoreFilesThanOneLooksThrough(JavaClasses all) {
    Map<String, Long> files =
        all.stream()
            .filter(JavaClass::isTopLevelClass)
            .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
    assertThat(files).allSatisfy((name, count) -> assertThat(count).isLessThan(MOST_FILES));
    assertThat(files).containsKeys("io.pawl", "io.pawl.engine", "io.pawl.spi");
  }
}
