package io.pawl.spring.boot;

import io.pawl.Pawl;
import io.pawl.spring.Fencing;
import io.pawl.spring.Leaders;
import io.pawl.spring.LockAdvisor;
import io.pawl.spring.LockedTransactions;
import io.pawl.sql.SqlFence;
import javax.sql.DataSource;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.LazyInitializationExcludeFilter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.util.ClassUtils;

/** Puts the annotations into effect. */
@AutoConfiguration(after = PawlAutoConfiguration.class)
@ConditionalOnBean(Pawl.class)
@ConditionalOnBooleanProperty(name = "pawl.enabled", matchIfMissing = true)
@Import(LockedAutoConfiguration.Proxies.class)
public final class LockedAutoConfiguration {

  /** Asks for the client when a method is called, since advisors are made before other beans. */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockAdvisor pawlLockAdvisor(
      ObjectProvider<Pawl> pawl,
      ObjectProvider<PawlProperties> properties,
      ObjectProvider<Fencing> fencing,
      ConfigurableBeanFactory beans) {
    return new LockAdvisor(
        pawl::getObject,
        () -> properties.getObject().locked().asSettings(),
        fencing::getIfAvailable,
        beans);
  }

  @Bean
  static Leaders pawlLeaders(
      ObjectProvider<Pawl> pawl,
      ObjectProvider<PawlProperties> properties,
      ConfigurableBeanFactory beans) {
    return new Leaders(pawl::getObject, () -> properties.getObject().locked().asSettings(), beans);
  }

  @Bean
  static LazyInitializationExcludeFilter pawlLeadersAreNotLazy() {
    return (name, definition, type) -> type != null && Leaders.leads(ClassUtils.getUserClass(type));
  }

  /** Locks are not left out where the application has switched proxies off. */
  static final class Proxies implements ImportBeanDefinitionRegistrar {

    @Override
    public void registerBeanDefinitions(
        AnnotationMetadata importer, BeanDefinitionRegistry registry) {
      AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
    }
  }

  /** Where there are several DataSources, a bean of type {@link Fencing} says which has it. */
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass({SqlFence.class, DataSourceUtils.class})
  static class Fences {

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnSingleCandidate(DataSource.class)
    Fencing pawlFencing(DataSource dataSource, PawlProperties properties) {
      return new Fencing(dataSource, properties.createTables(), properties.patience());
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(ConfigurableTransactionManager.class)
  static class Transactions {

    @Bean
    static LockedTransactions pawlLockedTransactions() {
      return new LockedTransactions();
    }
  }
}
