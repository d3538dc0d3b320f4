#include "server/option_chapters.h"
#include "server/option_special.h"

namespace sorrel::server {
namespace {

constexpr Word kTlsAuthWords[] = {
    {"no", static_cast<int>(io::TlsPeer::kNotAsked)},
    {"yes", static_cast<int>(io::TlsPeer::kRequired)},
    {"optional", static_cast<int>(io::TlsPeer::kOptional)},
};

constexpr Word kTlsUserWords[] = {
    {"off", static_cast<int>(io::TlsName::kNone)},
    {"CN", static_cast<int>(io::TlsName::kCommonName)},
    {"URI", static_cast<int>(io::TlsName::kUri)},
};

constexpr InOptions::Row kNetwork[] = {
    {.name = "bind",
     .flags = kMultiArg,
     .part = &part::kBind,
     .kind = kBindKind,
     .help = "Addresses to listen on; an address with a leading '-' may be missing, '*' is every "
             "IPv4 and '::*' every IPv6 interface."},
    {.name = "bind-source-addr",
     .flags = kNoEffectYet,
     .kind = InOptions::optional_text<&Options::network, &NetworkOptions::bind_source_addr>(),
     .help = "Local address for the connections that the server itself opens, to primaries and "
             "cluster nodes."},
    {.name = "port",
     .part = &part::kPort,
     .kind = InOptions::integer<&Options::network, &NetworkOptions::port>(0, kPortMax),
     .help = "TCP port for clients; 0 opens none."},
    {.name = "protected-mode",
     .part = &part::kClients,
     .kind = InOptions::boolean<&Options::clients, &ClientOptions::protected_mode>(),
     .help = "Serve only loopback and unix sockets while the default user needs no password."},
    {.name = "tcp-backlog",
     .flags = kStartupOnly,
     .kind = InOptions::integer<&Options::network, &NetworkOptions::tcp_backlog>(0, kIntMax),
     .help = "Length of the kernel's queue of connections not yet accepted."},
    {.name = "tcp-keepalive",
     .part = &part::kClients,
     .kind = InOptions::integer<&Options::clients, &ClientOptions::keepalive_seconds>(0, kIntMax),
     .help = "Seconds of silence after which the kernel probes a client; 0 sends no probes."},
    {.name = "unixsocket",
     .flags = kStartupOnly,
     .kind = InOptions::optional_text<&Options::network, &NetworkOptions::unix_socket>(),
     .help = "Path of a unix socket to listen on; none when empty."},
    {.name = "unixsocketperm",
     .flags = kStartupOnly,
     .kind = InOptions::integer<&Options::network, &NetworkOptions::unix_socket_mode>(0, 0777,
                                                                                      Unit::kOctal),
     .help = "File mode of the unix socket in octal; 0 leaves it to the umask."},
    {.name = "socket-mark-id",
     .flags = kStartupOnly,
     .kind =
         InOptions::integer<&Options::network, &NetworkOptions::socket_mark_id>(0, kUnsignedMax),
     .help = "Mark put on listening sockets for routing and packet filters, which takes privilege; "
             "0 puts "
             "none."},
    {.name = "max-new-connections-per-cycle",
     .part = &part::kConnectionRate,
     .kind = InOptions::integer<&Options::network, &NetworkOptions::max_new_connections_per_cycle>(
         1, 1000),
     .help = "How many plain connections one turn of the loop accepts."},
    {.name = "max-new-tls-connections-per-cycle",
     .part = &part::kConnectionRate,
     .kind = InOptions::integer<&Options::tls, &TlsOptions::policy,
                                &io::TlsPolicy::handshakes_per_turn>(1, 1000),
     .help = "How many TLS connections one turn of the loop accepts; their handshakes are costly."},
};

constexpr InOptions::Row kTls[] = {
    {.name = "tls-port",
     .part = &part::kTlsPort,
     .kind = InOptions::integer<&Options::tls, &TlsOptions::port>(0, kPortMax),
     .help = "TCP port for clients that speak TLS; 0 opens none."},
    {.name = "tls-cert-file",
     .flags = kReapply,
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::cert_file>(),
     .help = "Certificate that the server shows, in PEM form."},
    {.name = "tls-key-file",
     .flags = kReapply,
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::key_file>(),
     .help = "Private key of that certificate, in PEM form."},
    {.name = "tls-key-file-pass",
     .flags = kSecret,
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::key_file_pass>(),
     .help = "Passphrase of the private key, when it has one."},
    {.name = "tls-client-cert-file",
     .flags = kReapply,
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::client_cert_file>(),
     .help = "Certificate for connections that the server opens; without it tls-cert-file serves "
             "both ways."},
    {.name = "tls-client-key-file",
     .flags = kReapply,
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::client_key_file>(),
     .help = "Private key of the client certificate."},
    {.name = "tls-client-key-file-pass",
     .flags = kSecret,
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::client_key_file_pass>(),
     .help = "Passphrase of the client key, when it has one."},
    {.name = "tls-dh-params-file",
     .flags = kReapply,
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::dh_params_file>(),
     .help = "Diffie-Hellman parameters for old OpenSSL peers."},
    {.name = "tls-ca-cert-file",
     .flags = kReapply,
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::ca_cert_file>(),
     .help = "File with the certificate authorities that peers are checked against."},
    {.name = "tls-ca-cert-dir",
     .flags = kReapply,
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::ca_cert_dir>(),
     .help = "Directory with the certificate authorities that peers are checked against."},
    {.name = "tls-auth-clients",
     .part = &part::kTlsPolicy,
     .kind =
         InOptions::words<&Options::tls, &TlsOptions::policy, &io::TlsPolicy::peer>(kTlsAuthWords),
     .help =
         "Whether a client must show a valid certificate, may leave it out, or need not have one."},
    {.name = "tls-auth-clients-user",
     .flags = kOurOwn,
     .part = &part::kTlsPolicy,
     .kind =
         InOptions::words<&Options::tls, &TlsOptions::policy, &io::TlsPolicy::name>(kTlsUserWords),
     .help = "Which part of a client's certificate names the user it is logged in as: its common "
             "name, or a URI among its alternative names."},
    {.name = "tls-replication",
     .flags = kNoEffectYet,
     .part = &part::kTlsKeys,
     .kind = InOptions::boolean<&Options::tls, &TlsOptions::replication>(),
     .help = "Use TLS towards the primary."},
    {.name = "tls-cluster",
     .part = &part::kTlsKeys,
     .kind = InOptions::boolean<&Options::tls, &TlsOptions::cluster>(),
     .help = "Use TLS for MIGRATE, and on the cluster bus once there is one."},
    {.name = "tls-protocols",
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::protocols>(),
     .help = "TLS versions to speak, separated by blanks; empty leaves it to the library."},
    {.name = "tls-ciphers",
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::ciphers>(),
     .help = "Ciphers up to TLS 1.2 in OpenSSL's notation; empty leaves it to the library."},
    {.name = "tls-ciphersuites",
     .kind = InOptions::optional_text<&Options::tls, &TlsOptions::ciphersuites>(),
     .help = "TLS 1.3 cipher suites in OpenSSL's notation; empty leaves it to the library."},
    {.name = "tls-prefer-server-ciphers",
     .kind = InOptions::boolean<&Options::tls, &TlsOptions::prefer_server_ciphers>(),
     .help = "Follow the server's order of ciphers instead of the client's."},
    {.name = "tls-session-caching",
     .kind = InOptions::boolean<&Options::tls, &TlsOptions::session_caching>(),
     .help = "Let clients resume earlier sessions, which spares them a full handshake."},
    {.name = "tls-session-cache-size",
     .kind = InOptions::integer<&Options::tls, &TlsOptions::session_cache_size>(0, kIntMax),
     .help = "How many sessions are kept; 0 sets no bound."},
    {.name = "tls-session-cache-timeout",
     .kind =
         InOptions::integer<&Options::tls, &TlsOptions::session_cache_timeout_seconds>(0, kIntMax),
     .help = "Seconds for which a session can be resumed."},
};

constexpr InOptions::Row kClients[] = {
    {.name = "maxclients",
     .part = &part::kMaxClients,
     .kind = InOptions::integer<&Options::clients, &ClientOptions::max_clients>(1, kUnsignedMax),
     .help = "Connections served at the same time; further ones are turned away."},
    {.name = "timeout",
     .kind =
         InOptions::integer<&Options::clients, &ClientOptions::idle_timeout_seconds>(0, kIntMax),
     .help = "Seconds after which an idle client is disconnected; 0 never does."},
    {.name = "client-output-buffer-limit",
     .flags = kMultiArg,
     .kind = kOutputLimitKind,
     .help = "Per class (normal, replica, pubsub) the pending reply bytes that end a connection at "
             "once, and those that end it when exceeded for some seconds."},
    {.name = "client-query-buffer-limit",
     .kind =
         InOptions::bytes<&Options::clients, &ClientOptions::query_buffer_limit>(1 << 20, kLongMax),
     .help = "Bytes of unparsed input that one client may pile up."},
    {.name = "proto-max-bulk-len",
     .kind = InOptions::bytes<&Options::clients, &ClientOptions::max_bulk>(1 << 20, kLongMax),
     .help = "Longest single argument, and so longest string value."},
    {.name = "maxmemory-clients",
     .kind = InOptions::integer<&Options::clients, &ClientOptions::max_memory>(
         -100, kLongMax, Unit::kBytesOrPercent),
     .help = "Memory for all clients' buffers together, in bytes or as a percentage of maxmemory; "
             "the largest clients are dropped first, and 0 leaves them a quarter of the machine's "
             "memory."},
    {.name = "tracking-table-max-keys",
     .kind = InOptions::integer<&Options::clients, &ClientOptions::tracking_table_max_keys>(
         0, kLongMax),
     .help = "Keys remembered for client side caching; 0 sets no bound."},
    {.name = "client-default-resp",
     .flags = kStartupOnly | kHidden,
     .kind = InOptions::integer<&Options::clients, &ClientOptions::default_protocol>(2, 3),
     .help = "Protocol version that a new connection speaks before HELLO."},
};

}  // namespace

OptionRows network_directives() {
  return kNetwork;
}
OptionRows tls_directives() {
  return kTls;
}
OptionRows client_directives() {
  return kClients;
}

}  // namespace sorrel::server
