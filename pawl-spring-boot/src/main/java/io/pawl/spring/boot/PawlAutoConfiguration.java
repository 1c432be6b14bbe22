package io.pawl.spring.boot;

import io.pawl.Pawl;
import io.pawl.options.LockObserver;
import io.pawl.options.PawlOptions;
import io.pawl.redis.RedisStore;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.sql.SqlStore;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * A client of the store that {@code pawl.url} names, or else of the application's database or
 * Redis; closed gracefully when the application stops. A bean of type {@code Pawl} or {@code
 * LockStore} takes the place of what is made here.
 */
@AutoConfiguration(
    afterName = {
      "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
      "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration"
    })
@ConditionalOnBooleanProperty(name = "pawl.enabled", matchIfMissing = true)
@EnableConfigurationProperties(PawlProperties.class)
public final class PawlAutoConfiguration {

  /** Closed after the client, which is made of it. */
  @Bean
  @ConditionalOnMissingBean({Pawl.class, LockStore.class})
  @DependsOnDatabaseInitialization
  LockStore pawlStore(PawlProperties properties, ObjectProvider<StoreSource> sources) {
    String url = properties.url();
    if (url != null && !url.isBlank()) {
      return opened(url);
    }
    List<StoreSource> allowed =
        sources
            .orderedStream()
            .filter(
                source ->
                    properties.store() == StoreChoice.AUTO || properties.store() == source.choice())
            .toList();
    for (StoreSource source : allowed) {
      Optional<LockStore> store = source.open();
      if (store.isPresent()) {
        return store.get();
      }
    }
    throw new NoStoreException(
        "Pawl has no store: pawl.url is not set, and the application has neither a DataSource with"
            + " pawl-sql nor Redis connection details with pawl-redis on the class path.",
        "Set pawl.url, as in pawl.url=redis://localhost or pawl.url=sqlite:/var/lib/app/locks.db,"
            + " and add pawl-sql or pawl-redis with its driver. For tests, add"
            + " pawl-spring-boot-starter-test. Without locks, set pawl.enabled=false.");
  }

  private static LockStore opened(String url) {
    try {
      return Stores.open(StoreUrl.parse(url));
    } catch (IllegalArgumentException e) {
      throw new NoStoreException(
          "Pawl has no store: pawl.url cannot be used. " + e.getMessage(),
          "Correct pawl.url, or add the module of its store, such as pawl-sql or pawl-redis.",
          e);
    }
  }

  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  Pawl pawl(
      LockStore store,
      PawlProperties properties,
      Environment environment,
      ObjectProvider<LockObserver> observers,
      ObjectProvider<PawlOptionsCustomizer> customizers) {
    String application = properties.application();
    PawlOptions options =
        PawlOptions.defaults()
            .application(
                application != null
                    ? application
                    : environment.getProperty("spring.application.name", ""))
            .patience(properties.patience())
            .shutdownGrace(properties.shutdownGrace())
            .retention(properties.retention().asOption())
            .observer(Observers.of(observers.orderedStream().toList()))
            .releaseAtShutdown(false); // the application's own end comes first
    for (PawlOptionsCustomizer customizer : customizers.orderedStream().toList()) {
      options = customizer.customize(options);
    }
    return Pawl.over(store, options);
  }

  /** In the context that has the client: the end of a child is not its end. */
  @Bean
  @ConditionalOnBean(value = Pawl.class, search = SearchStrategy.CURRENT)
  static PawlLifecycle pawlLifecycle(ConfigurableListableBeanFactory beans) {
    return new PawlLifecycle(beans);
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({SqlStore.class, DataSource.class})
  static class OnDatabase {

    @Bean
    @Order(1)
    StoreSource pawlDataSource(ObjectProvider<DataSource> dataSources, PawlProperties properties) {
      return new DataSourceStore(dataSources, properties.createTables());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({RedisStore.class, DataRedisConnectionDetails.class})
  static class OnRedis {

    @Bean
    @Order(2)
    StoreSource pawlRedis(
        ObjectProvider<DataRedisConnectionDetails> details, Environment environment) {
      return new RedisStoreSource(details, environment.getProperty("spring.data.redis.url"));
    }
  }
}
