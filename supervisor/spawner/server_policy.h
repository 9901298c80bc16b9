// ServerPolicy: what a server works by, as a process of the spawner's reads it and the server takes
// it over (docs/adr/0064). The server itself parses no policy.
//
// How it is packed (base/pack.h): a struct that gets a field gets it here, too. Without it, this
// does not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "base/pack.h"
#include "policy/policy.h"
#include "supervisor/guard/guard_fields.h"
#include "supervisor/spawner/bounds.h"

namespace pa {

struct ServerPolicy {
  // Without `effective`, which only `policy show | explain` need, and without the trust anchors of
  // which only the server knows: its sockets and tokens.
  policy::Policy policy;
  std::string worker;    // absolute path of project-actions-worker
  std::string tmp_base;  // in which its TMPDIRs are made
};

template <>
inline constexpr auto kLastOf<policy::Verdict> = policy::Verdict::kAllow;
template <>
inline constexpr auto kLastOf<policy::Hooks> = policy::Hooks::kSkip;
template <>
inline constexpr auto kLastOf<policy::GitCommands> = policy::GitCommands::kWrite;
template <>
inline constexpr auto kLastOf<policy::AuditPolicy::Daemon> = policy::AuditPolicy::Daemon::kSyslog;
template <>
inline constexpr auto kLastOf<sandbox::Namespaces> = sandbox::Namespaces::kRequire;

template <>
struct PackedFields<policy::Limits> {
  static bool Visit(auto& io, auto& v) {
    auto& [wall, cpu, memory, processes, cpus, files, size, inlined, total, message, concurrent,
           queue, calls, detach] = v;
    return io(wall, cpu, memory, processes, cpus, files, size, inlined, total, message, concurrent,
              queue, calls, detach);
  }
};
template <>
struct PackedFields<policy::GitPolicy> : PackedMembers<3> {};
template <>
struct PackedFields<policy::Rule> : PackedMembers<9> {};
template <>
struct PackedFields<policy::Programs> : PackedMembers<6> {};
template <>
struct PackedFields<policy::Alias> : PackedMembers<2> {};
template <>
struct PackedFields<policy::Caches> : PackedMembers<4> {};
template <>
struct PackedFields<policy::AuditPolicy> : PackedMembers<4> {};
template <>
struct PackedFields<policy::CoveredPath> : PackedMembers<4> {};
template <>
struct PackedFields<policy::OAuthPolicy> : PackedMembers<6> {};
template <>
struct PackedFields<policy::HttpPolicy> : PackedMembers<3> {};
template <>
struct PackedFields<policy::SourceLocation> : PackedMembers<3> {};
// By its number: the types have no values.
template <>
struct PackedFields<policy::RelaxationType> {
  static bool Visit(Packer& io, const policy::RelaxationType& v) {
    return io(static_cast<std::uint8_t>(v.index()));
  }
  static bool Visit(Unpacker& io, policy::RelaxationType& v) {
    std::uint8_t number = 0;
    return io(number) &&
           Choose(number, v,
                  std::make_index_sequence<std::variant_size_v<policy::RelaxationType>>());
  }

 private:
  template <std::size_t... I>
  static bool Choose(std::uint8_t number, policy::RelaxationType& v,
                     std::index_sequence<I...> /*all*/) {
    return ((number == I && (v.emplace<I>(), true)) || ...);
  }
};
template <>
struct PackedFields<policy::Relaxation> : PackedMembers<5> {};
template <>
struct PackedFields<policy::Policy> {
  static bool Visit(auto& io, auto& v) {
    auto& [roots, aliases, enabled_tools, enable_all, inner_tools, permissions, filesystem, protect,
           unprotect, anchors, unwritable, covered, filesystem_sync, system, system_network,
           git_programs, names, network, keep_jobs, job_ports, environment_pass, environment_set,
           caches, limits, git, audit, http, home, config_home, sources, namespaces, programs,
           view_programs, effective, relaxations] = v;
    static_cast<void>(effective);
    return io(roots, aliases, enabled_tools, enable_all, inner_tools, permissions, filesystem,
              protect, unprotect, anchors, unwritable, covered, filesystem_sync, system,
              system_network, git_programs, names, network, keep_jobs, job_ports, environment_pass,
              environment_set, caches, limits, git, audit, http, home, config_home, sources,
              namespaces, programs, view_programs, relaxations);
  }
};
template <>
struct PackedFields<ServerPolicy> : PackedMembers<3> {};

}  // namespace pa
