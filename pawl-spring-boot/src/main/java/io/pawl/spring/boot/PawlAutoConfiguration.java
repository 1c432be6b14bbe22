package io.pawl.spring.boot;

import io.pawl.Pawl;
import io.pawl.options.LockObserver;
import io.pawl.options.PawlOptions;
import io.pawl.redis.RedisStore;
import io.pawl.spi.LockStore;
import io.pawl.sql.SqlStore;
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
import org.springframework.context.annotation.Lazy;
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

  /** The name of the store's bean, where it is not one of the application's own. */
  static final String STORE = "pawlStore";

  @Bean
  StoreFinder pawlStoreFinder(PawlProperties properties, ObjectProvider<StoreSource> sources) {
    return new StoreFinder(properties, sources);
  }

  /** Closed after the client, which is made of it. */
  @Bean(STORE)
  @Lazy
  @ConditionalOnMissingBean({Pawl.class, LockStore.class})
  @DependsOnDatabaseInitialization
  LockStore pawlStore(StoreFinder finder) {
    return finder.find().get();
  }

  @Bean(destroyMethod = "close")
  @Lazy
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

  @Bean
  @ConditionalOnBean(value = Pawl.class, search = SearchStrategy.CURRENT)
  PawlOpening pawlOpening(
      PawlProperties properties, StoreFinder finder, ConfigurableListableBeanFactory beans) {
    return new PawlOpening(properties.open(), finder, beans);
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
    StoreSource pawlRedis(ObjectProvider<DataRedisConnectionDetails> details) {
      return new RedisStoreSource(details);
    }
  }
}
