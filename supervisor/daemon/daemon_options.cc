#include "supervisor/daemon/daemon_options.h"

#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>

#include "supervisor/loop/version.h"

namespace pa {
namespace {

constexpr char kHelp[] =
    R"(Usage: project-actionsd [OPTIONS]

Tells the web server in front of the tenants' servers whose a request is. It is
started by systemd; see project-actionsd(8).

  --listen ADDRESS    systemd (the default) or unix:PATH
  --web-server USER   The user of the web server, by name or number
  --tenants DIR       The tenants [/etc/project-actions/tenants]
  --policy FILE       The policy [/etc/project-actions/policy.yaml]
  --log-json          Log lines of JSON
  -v, --verbose       Say more on standard error
  -V, --version       Print the version
  -h, --help          Print this
)";

std::unexpected<DaemonText> Usage(const std::string& why) {
  return std::unexpected(
      DaemonText{.text = fmt::format("project-actionsd: {}; see project-actionsd --help\n", why),
                 .exit_status = 2});
}

}  // namespace

std::expected<DaemonOptions, DaemonText> ParseDaemonOptions(int argc, char** argv) {
  DaemonOptions options;
  constexpr option kOptions[] = {{"listen", required_argument, nullptr, 'l'},
                                 {"web-server", required_argument, nullptr, 'w'},
                                 {"tenants", required_argument, nullptr, 't'},
                                 {"policy", required_argument, nullptr, 'p'},
                                 {"log-json", no_argument, nullptr, 'j'},
                                 {"verbose", no_argument, nullptr, 'v'},
                                 {"version", no_argument, nullptr, 'V'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {nullptr, 0, nullptr, 0}};
  opterr = 0;
  for (int chosen = 0;;) {
    const int word = std::max(optind, 1);
    chosen = getopt_long(argc, argv, ":vVh", kOptions, nullptr);
    if (chosen == -1) break;
    switch (chosen) {
      case 'l': {
        const auto address = ParseListenAddress(optarg);
        if (!address) return Usage(address.error());
        using enum ListenAddress::Kind;
        if (address->kind != kUnix && address->kind != kSystemd) {
          return Usage("--listen is systemd or unix:PATH");
        }
        options.listen = *address;
        break;
      }
      case 'w':
        options.web_server = optarg;
        break;
      case 't':
        options.tenants = optarg;
        break;
      case 'p':
        options.policy = optarg;
        break;
      case 'j':
        options.log_json = true;
        break;
      case 'v':
        options.verbose = true;
        break;
      case 'V':
        return std::unexpected(DaemonText{.text = fmt::format("project-actionsd {}\n", kVersion)});
      case 'h':
        return std::unexpected(DaemonText{.text = kHelp});
      case ':':
        return Usage(fmt::format("{} needs a value", argv[word]));
      default:
        return Usage(fmt::format("unknown option {}", argv[word]));
    }
  }
  if (optind < argc) return Usage(fmt::format("unexpected argument '{}'", argv[optind]));
  return options;
}

}  // namespace pa
