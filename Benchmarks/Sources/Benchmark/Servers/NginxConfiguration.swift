import Foundation

/// The configuration of nginx with one worker and without a log, for the same work.
struct NginxConfiguration {
  var port: UInt16
  var folder: String
  /// `tcp_nopush`.
  var push: Bool
  /// A PEM file with certificate and key; `nil` for plain HTTP.
  var certificate: String?

  /// Writes the file to `folder`, and returns its path.
  func write() throws -> String {
    let path = "\(folder)/nginx-\(push ? "push" : "plain").conf"
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  private var tls: String {
    guard let certificate else { return "" }
    return
      "ssl_certificate \(certificate); ssl_certificate_key \(certificate); ssl_protocols TLSv1.2 TLSv1.3;"
  }

  private var text: String {
    """
    daemon off;
    \(getuid() == 0 ? "user root;" : "")
    worker_processes 1;
    pid \(folder)/nginx-\(push).pid;
    error_log stderr crit;
    events { worker_connections 4096; }
    http {
      access_log off;
      sendfile on;
      tcp_nopush \(push ? "on" : "off");
      tcp_nodelay on;
      open_file_cache max=64;
      keepalive_timeout 600;
      keepalive_requests 100000000;
      client_max_body_size 0;
      client_body_buffer_size 256k;
      client_body_temp_path \(folder)/temporary;
      proxy_temp_path \(folder)/temporary-proxy;
      fastcgi_temp_path \(folder)/temporary-fastcgi;
      uwsgi_temp_path \(folder)/temporary-uwsgi;
      scgi_temp_path \(folder)/temporary-scgi;
      server {
        listen 127.0.0.1:\(port) backlog=4096\(certificate == nil ? "" : " ssl");
        \(tls)
        location = /small {
          default_type application/octet-stream;
          return 200 "\(String(repeating: "x", count: 1024))";
        }
        location /files/ { root \(folder); }
        location /uploads/ { root \(folder); dav_methods PUT; }
      }
    }

    """
  }
}
