package io.pawl.etcd;

import io.pawl.error.StoreConfigurationException;
import io.pawl.etcd.gateway.Endpoint;
import io.pawl.etcd.gateway.Target;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.UrlParameters;
import io.pawl.spi.UrlParts;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** A URL of this store, taken apart; {@link EtcdProvider} explains the form. */
record EtcdUrl(Target target, String namespace) {

  static final Set<String> SCHEMES = Set.of("etcd", "etcds");

  private static final String DEFAULT_NAMESPACE = "pawl";
  private static final int STANDARD_PORT = 2379;
  private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(50);
  private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(1);
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  private static final Set<String> PARAMETERS =
      Set.of(
          "timeout",
          "tls",
          "trustStore",
          "trustStorePassword",
          "trustPem",
          "keyStore",
          "keyStorePassword",
          "verify");

  private static final Pattern HOST =
      Pattern.compile("(\\[[0-9A-Fa-f:.%]+\\]|[A-Za-z0-9_.-]+)(?::(\\d{1,5}))?");

  private static final Pattern NAMESPACE = Pattern.compile("[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*");

  /**
   * @throws IllegalArgumentException naming the part that cannot be right, never the password
   */
  static EtcdUrl parse(StoreUrl url) {
    String scheme = url.scheme();
    UrlParts parts = UrlParts.of(url);
    if (!url.rest().startsWith("//") || (parts.path() + parts.query()).indexOf('#') >= 0) {
      throw wrong(
          scheme,
          "is not "
              + scheme
              + "://[user:password@]host[:port],…[/namespace]; encode / ? # and @ in a password as"
              + " %2F %3F %23 %40");
    }
    Map<String, String> parameters = parameters(scheme, parts.query());
    if (parts.user() != null && (parts.user().isEmpty() || parts.password() == null)) {
      throw wrong(scheme, "has a user without a password, or none; write user:password@");
    }
    List<Endpoint> endpoints = endpoints(scheme, parts.hosts());
    String namespace = parts.path().replaceAll("^/|/$", "");
    String shown = shown(scheme, endpoints, namespace);
    if (namespace.length() > 128 || !(namespace.isEmpty() || matches(NAMESPACE, namespace))) {
      throw wrong(
          scheme,
          "the namespace after the / is not 1 to 128 letters, digits, '_', '.', '-', or several such"
              + " words with a / between");
    }
    if (Arrays.stream(namespace.split("/")).anyMatch(Keys.PARTS::contains)) {
      throw wrong(
          scheme,
          "none of the words of the namespace may be "
              + String.join(", ", Keys.PARTS.stream().sorted().toList())
              + ": its keys would be another namespace's");
    }
    boolean tls = scheme.equals("etcds") || flag(scheme, parameters, "tls");
    Duration timeout = timeout(shown, parameters);
    Target target =
        new Target(
            shown,
            endpoints,
            tls ? sockets(shown, parameters) : null,
            checksHost(shown, parameters),
            parts.user(),
            parts.password(),
            timeout);
    return new EtcdUrl(target, namespace.isEmpty() ? DEFAULT_NAMESPACE : namespace);
  }

  private static boolean matches(Pattern pattern, String text) {
    return pattern.matcher(text).matches();
  }

  private static String shown(String scheme, List<Endpoint> endpoints, String namespace) {
    String hosts = String.join(",", endpoints.stream().map(Endpoint::toString).toList());
    return scheme + "://" + hosts + (namespace.isEmpty() ? "" : "/" + namespace);
  }

  private static List<Endpoint> endpoints(String scheme, String hosts) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (String each : hosts.split(",", -1)) {
      Matcher host = HOST.matcher(each);
      if (!host.matches()) {
        throw wrong(scheme, "names no host, or one that cannot be"); // it may be a password
      }
      int port = host.group(2) == null ? STANDARD_PORT : Integer.parseInt(host.group(2));
      endpoints.add(new Endpoint(host.group(1).replaceAll("[\\[\\]]", ""), port));
    }
    return endpoints;
  }

  private static Map<String, String> parameters(String scheme, String query) {
    try {
      return UrlParameters.parse(query, PARAMETERS);
    } catch (IllegalArgumentException e) {
      throw wrong(scheme, String.valueOf(e.getMessage()));
    }
  }

  private static boolean flag(String scheme, Map<String, String> parameters, String name) {
    try {
      return UrlParameters.flag(parameters, name);
    } catch (IllegalArgumentException e) {
      throw wrong(scheme, String.valueOf(e.getMessage()));
    }
  }

  private static Duration timeout(String shown, Map<String, String> parameters) {
    Duration timeout;
    try {
      timeout = UrlParameters.duration(parameters, "timeout", TIMEOUT);
    } catch (IllegalArgumentException e) {
      throw wrong(shown, String.valueOf(e.getMessage()));
    }
    if (timeout.compareTo(SHORTEST_TIMEOUT) < 0 || timeout.compareTo(LONGEST_TIMEOUT) > 0) {
      throw wrong(shown, "timeout: " + timeout + " is not between 50 ms and 1 minute");
    }
    return timeout;
  }

  private static boolean checksHost(String shown, Map<String, String> parameters) {
    return switch (parameters.getOrDefault("verify", "full")) {
      case "full" -> true;
      case "ca" -> false;
      default -> throw wrong(shown, "verify is neither full nor ca");
    };
  }

  private static SSLSocketFactory sockets(String shown, Map<String, String> parameters) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      KeyManagerFactory keys = null;
      String keyStore = parameters.get("keyStore");
      if (keyStore != null) {
        char[] password = parameters.getOrDefault("keyStorePassword", "").toCharArray();
        keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store(keyStore, password), password);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      KeyStore trusted = trusted(parameters);
      trust.init(trusted);
      if (trusted != null && trustsNobody(trust)) {
        throw new StoreConfigurationException(
            "store '"
                + shown
                + "': trustStore or trustPem has no certificate to trust; import the authority's"
                + " (keytool -importcert), or name its PEM file");
      }
      context.init(keys == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), null);
      return context.getSocketFactory();
    } catch (GeneralSecurityException | IOException e) {
      throw new StoreConfigurationException(
          "store '"
              + shown
              + "': trustStore, trustPem or keyStore cannot be read ("
              + e.getClass().getSimpleName()
              + "); correct the path or the password");
    }
  }

  private static @Nullable KeyStore trusted(Map<String, String> parameters)
      throws GeneralSecurityException, IOException {
    String pem = parameters.get("trustPem");
    if (pem != null) {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      try (InputStream file = Files.newInputStream(Path.of(pem))) {
        int number = 0;
        for (Certificate each :
            CertificateFactory.getInstance("X.509").generateCertificates(file)) {
          trusted.setCertificateEntry("authority" + number++, each);
        }
      }
      return trusted;
    }
    String trustStore = parameters.get("trustStore");
    return trustStore == null
        ? null
        : store(trustStore, parameters.getOrDefault("trustStorePassword", "").toCharArray());
  }

  private static boolean trustsNobody(TrustManagerFactory trust) {
    return Arrays.stream(trust.getTrustManagers())
        .noneMatch(
            each -> each instanceof X509TrustManager of && of.getAcceptedIssuers().length > 0);
  }

  private static KeyStore store(String path, char[] password)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream file = Files.newInputStream(Path.of(path))) {
      store.load(file, password);
    }
    return store;
  }

  /** The cause of an inner exception could quote the password; it is not kept. */
  private static IllegalArgumentException wrong(String shown, String what) {
    return new IllegalArgumentException("store URL '" + shown + "': " + what);
  }

  @Override
  public String toString() {
    return target.shown();
  }
}
