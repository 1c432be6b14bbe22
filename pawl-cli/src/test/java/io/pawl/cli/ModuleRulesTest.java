package io.pawl.cli;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Which module and package may see which, and how large one is; the CLI sees all that users see.
 */
@AnalyzeClasses(packages = "io.pawl", importOptions = DoNotIncludeTests.class)
class ModuleRulesTest {

  private static final int MOST_FILES = 30;

  @ArchTest
  static final ArchRule noTwoPackagesNeedEachOther =
      slices().matching("io.(**)").should().beFreeOfCycles();

  @ArchTest
  static void aPackageHasFewFilesAndOneModule(JavaClasses all) {
    Map<String, List<JavaClass>> packages =
        all.stream()
            .filter(JavaClass::isTopLevelClass)
            .collect(Collectors.groupingBy(JavaClass::getPackageName));
    assertThat(packages)
        .containsKeys("io.pawl", "io.pawl.cli", "io.pawl.micrometer", "io.pawl.tck");
    assertThat(packages)
        .allSatisfy(
            (name, classes) -> {
              assertThat(classes).hasSizeLessThanOrEqualTo(MOST_FILES);
              assertThat(classes.stream().map(ModuleRulesTest::module).distinct()).hasSize(1);
            });
  }

  private static String module(JavaClass type) {
    String file = type.getSource().orElseThrow().getUri().toString();
    return file.substring(0, file.lastIndexOf(type.getName().replace('.', '/')));
  }

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
  static final ArchRule etcdSeesCoreAndAReaderOfJsonButNoOtherStore =
      classes()
          .that()
          .resideInAPackage("io.pawl.etcd..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "io.pawl.concurrent",
              "io.pawl.error",
              "io.pawl.fence",
              "io.pawl.spi..",
              "io.pawl.etcd..",
              "java..",
              "javax.net.ssl..",
              "org.jspecify..",
              "org.slf4j..",
              "tools.jackson.core..");

  @ArchTest
  static final ArchRule zooKeeperSeesCoreAndItsClientButNoOtherStore =
      classes()
          .that()
          .resideInAPackage("io.pawl.zookeeper..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "io.pawl.concurrent",
              "io.pawl.error",
              "io.pawl.fence",
              "io.pawl.spi..",
              "io.pawl.zookeeper..",
              "java..",
              "javax.net.ssl",
              "org.jspecify..",
              "org.slf4j..",
              "org.apache.zookeeper",
              "org.apache.zookeeper.client..",
              "org.apache.zookeeper.common",
              "org.apache.zookeeper.data..");

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
  static final ArchRule aQuorumSeesTheSeamAndNoDriver =
      classes()
          .that()
          .resideInAPackage("io.pawl.quorum..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "io.pawl.concurrent",
              "io.pawl.error",
              "io.pawl.memory",
              "io.pawl.spi..",
              "io.pawl.quorum..",
              "java..",
              "org.jspecify..",
              "org.slf4j..");

  @ArchTest
  static final ArchRule metersSeeWhatUsersSee =
      classes()
          .that()
          .resideInAPackage("io.pawl.micrometer..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage(
              "io.pawl",
              "io.pawl.error",
              "io.pawl.options",
              "io.pawl.micrometer..",
              "java..",
              "org.jspecify..",
              "org.slf4j..",
              "io.micrometer.core.instrument..",
              "io.micrometer.tracing..");

  @ArchTest
  static final ArchRule mainCodeSeesNeitherTckNorBenchNorLab =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.pawl.tck..", "io.pawl.bench..", "io.pawl.lab..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.pawl.tck..", "io.pawl.bench..", "io.pawl.lab..");

  /** Its thread never ends, and has the class loader of whoever was the first to need it. */
  @ArchTest
  static final ArchRule p8_nothingLeftBehind_theTimerOfTheJvmIsNotStarted =
      noClasses()
          .that()
          .resideOutsideOfPackages("io.pawl.tck..", "io.pawl.bench..", "io.pawl.servers..")
          .should()
          .callMethodWhere(
              target(owner(assignableTo(CompletableFuture.class)))
                  .and(target(nameMatching("orTimeout|completeOnTimeout|delayedExecutor"))));

  @ArchTest
  static final ArchRule aNameSaysWhatTheClassIs =
      noClasses().should().haveNameMatching(".*(Manager|Helper|Utils?|Impl)");
}
