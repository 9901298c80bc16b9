// The sections of the bench, each in the file of its name.
//
// To add a figure: report.Add in its section. To add a section: a file, a line here, one in
// bench.cc.
#pragma once

#include "tests/bench/report.h"

namespace pa::bench {

void WorkerCost(Report& report);  // worker_cost.cc
void Calls(Report& report);       // calls.cc: round trips, start, memory, many at once
void Composed(Report& report);    // composed.cc: pipelines and batches, beside single calls
void Output(Report& report);      // output.cc
void Results(Report& report);     // results.cc: filtered rows, beside jq
void Builds(Report& report);      // builds.cc: commands that take a while
void Search(Report& report);      // search.cc: glob and grep over many files
void Files(Report& report);       // files.cc: beside another MCP server that works with files
void Trees(Report& report);       // trees.cc: guarding many directories and submodules
void Git(Report& report);         // git.cc: beside git
void Http(Report& report);        // http.cc: requests by HTTP, beside Node
void Tenants(Report& report);     // tenants.cc: the front door, and servers that wait
void Peer(Report& report);        // peer.cc: another MCP server of the same kind

}  // namespace pa::bench
