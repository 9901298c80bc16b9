// bench [FILE.json] [SECTION]...: measures what the project promises, side by side with what it is
// compared to. tests/bench/run.sh prepares what it needs; without a section it measures all.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/bench/measure.h"
#include "tests/bench/sections.h"

int main(int argc, char** argv) {
  struct Section {
    const char* name;
    void (*run)(pa::bench::Report&);
  };
  constexpr Section kSections[] = {
      {"worker", pa::bench::WorkerCost}, {"calls", pa::bench::Calls},
      {"composed", pa::bench::Composed}, {"output", pa::bench::Output},
      {"results", pa::bench::Results},   {"builds", pa::bench::Builds},
      {"search", pa::bench::Search},     {"files", pa::bench::Files},
      {"trees", pa::bench::Trees},       {"git", pa::bench::Git},
      {"http", pa::bench::Http},         {"tenants", pa::bench::Tenants},
      {"peer", pa::bench::Peer}};
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const std::vector<std::string> wanted(arguments.begin() + (arguments.empty() ? 0 : 1),
                                        arguments.end());
  pa::bench::Report report;
  for (const Section& section : kSections) {
    if (wanted.empty() || std::ranges::find(wanted, section.name) != wanted.end()) {
      section.run(report);
    }
  }
  report.PrintSummary();
  if (!arguments.empty()) report.WriteJson(arguments[0]);
}
