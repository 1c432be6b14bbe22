package io.pawl.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says how to give an application a store. */
final class NoStoreFailureAnalyzer extends AbstractFailureAnalyzer<NoStoreException> {

  @Override
  protected FailureAnalysis analyze(Throwable root, NoStoreException cause) {
    return new FailureAnalysis(String.valueOf(cause.getMessage()), cause.action(), cause);
  }
}
