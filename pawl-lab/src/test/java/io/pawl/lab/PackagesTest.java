package io.pawl.lab;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.stream.Collectors;

/** The rule of all packages, for those that the CLI's {@code ModuleRulesTest} does not see. */
@AnalyzeClasses(packages = "io.pawl.lab", importOptions = DoNotIncludeTests.class)
class PackagesTest {

  @ArchTest
  static final ArchRule noTwoPackagesNeedEachOther =
      slices().matching("io.(**)").should().beFreeOfCycles();

  @ArchTest
  static void aPackageHasFewFiles(JavaClasses all) {
    assertThat(
            all.stream()
                .filter(JavaClass::isTopLevelClass)
                .collect(Collectors.groupingBy(JavaClass::getPackageName)))
        .containsKey("io.pawl.lab")
        .allSatisfy((name, classes) -> assertThat(classes).hasSizeLessThanOrEqualTo(30));
  }
}
