package io.pawl.spring.boot;

import io.pawl.spi.LockStore;
import io.pawl.sql.SqlStore;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;

/** The database of the application's only or primary {@code DataSource}. */
final class DataSourceStore implements StoreSource {

  private final ObjectProvider<DataSource> dataSources;
  private final boolean createsTables;

  DataSourceStore(ObjectProvider<DataSource> dataSources, boolean createsTables) {
    this.dataSources = dataSources;
    this.createsTables = createsTables;
  }

  @Override
  public StoreChoice choice() {
    return StoreChoice.DATA_SOURCE;
  }

  /**
   * @throws NoStoreException where there are several and none is primary
   */
  @Override
  public Optional<LockStore> open() {
    DataSource dataSource = dataSources.getIfUnique();
    if (dataSource != null) {
      return Optional.of(SqlStore.over(dataSource, createsTables));
    }
    if (dataSources.stream().findAny().isEmpty()) {
      return Optional.empty();
    }
    throw new NoStoreException(
        "Pawl has no store: the application has several DataSources, and none is primary.",
        "Mark one of them @Primary, set pawl.url, or define a bean of type LockStore, such as"
            + " SqlStore.over(dataSource).");
  }
}
