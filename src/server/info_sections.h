#pragma once

#include "server/info.h"

namespace sorrel::server {

// One function per section of INFO. Field names and their order are Redis's; features that are not
// there show what Redis shows while they are idle.
void write_server_section(InfoText& out, Server& server);
void write_clients_section(InfoText& out, Server& server);
void write_memory_section(InfoText& out, Server& server);
void write_persistence_section(InfoText& out, Server& server);
void write_stats_section(InfoText& out, Server& server);
void write_replication_section(InfoText& out, Server& server);
void write_cpu_section(InfoText& out, Server& server);
void write_modules_section(InfoText& out, Server& server);
void write_commandstats_section(InfoText& out, Server& server);
void write_errorstats_section(InfoText& out, Server& server);
void write_latencystats_section(InfoText& out, Server& server);
void write_cluster_section(InfoText& out, Server& server);
void write_keyspace_section(InfoText& out, Server& server);
void write_debug_section(InfoText& out, Server& server);

}  // namespace sorrel::server
