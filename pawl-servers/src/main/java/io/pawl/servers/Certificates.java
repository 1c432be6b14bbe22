package io.pawl.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A self-signed certificate for {@code localhost} and 127.0.0.1, made at run time, as the files
 * that servers (PEM) and Java clients (PKCS12) read.
 */
public final class Certificates {
  /** The password of both stores. */
  public static final String STORE_PASSWORD = "changeit";

  private static final String ALIAS = "server";

  private final Path folder;
  private final KeyStore trusted;

  private Certificates(Path folder, KeyStore trusted) {
    this.folder = folder;
    this.trusted = trusted;
  }

  /** Makes a new key and certificate in {@code folder}. */
  static Certificates in(Path folder) {
    Path pair = keyStore(folder);
    try {
      keytool(pair);
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream file = Files.newInputStream(pair)) {
        keys.load(file, STORE_PASSWORD.toCharArray());
      }
      Key key = keys.getKey(ALIAS, STORE_PASSWORD.toCharArray());
      Certificate certificate = keys.getCertificate(ALIAS);
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      trusted.setCertificateEntry(ALIAS, certificate);

      Certificates made = new Certificates(folder, trusted);
      Files.writeString(made.keyPem(), pem("PRIVATE KEY", key.getEncoded()));
      Files.writeString(made.certificatePem(), pem("CERTIFICATE", certificate.getEncoded()));
      try (OutputStream file = Files.newOutputStream(made.trustStore())) {
        trusted.store(file, STORE_PASSWORD.toCharArray());
      }
      return made;
    } catch (GeneralSecurityException | IOException e) {
      throw new ServerException("cannot make a certificate in " + folder, e);
    }
  }

  public Path keyPem() {
    return folder.resolve("key.pem");
  }

  /** Returns the server's certificate, which is its own authority. */
  public Path certificatePem() {
    return folder.resolve("certificate.pem");
  }

  /**
   * Returns a PKCS12 store with the key and the certificate, whose password is {@link
   * #STORE_PASSWORD}.
   */
  public Path keyStore() {
    return keyStore(folder);
  }

  private static Path keyStore(Path folder) {
    return folder.resolve("pair.p12");
  }

  /** Returns a PKCS12 store with the certificate, whose password is {@link #STORE_PASSWORD}. */
  public Path trustStore() {
    return folder.resolve("trust.p12");
  }

  /** Returns a context that trusts this certificate alone. */
  public SSLContext sslContext() {
    try {
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new ServerException("cannot trust the certificate in " + folder, e);
    }
  }

  private static void keytool(Path pair) throws IOException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-alias",
            ALIAS,
            "-keyalg",
            "EC",
            "-groupname",
            "secp256r1",
            "-dname",
            "CN=localhost",
            "-ext",
            "san=dns:localhost,ip:127.0.0.1",
            "-ext",
            "bc:c=ca:true",
            "-validity",
            "7",
            "-storetype",
            "PKCS12",
            "-storepass",
            STORE_PASSWORD,
            "-keystore",
            pair.toString());
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(keytool.getInputStream().readAllBytes());
    try {
      if (keytool.waitFor() != 0) {
        throw new ServerException("keytool: " + said.strip());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ServerException("interrupted while making a certificate", e);
    }
  }

  private static String pem(String label, byte[] der) {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
    return "-----BEGIN " + label + "-----\n" + body + "\n-----END " + label + "-----\n";
  }
}
