// The wire format of a WorkerSpec, completely defined by VisitSpec: the encoder
// (worker/spec_encode.cc) and the parser (worker/spec_view.cc) both visit the fields through it.
// VisitLaunch is the same for the order of a launcher, VisitCeiling for the most that it may ask
// for.
//
//    file  = magic:u32 version:u32 field*    all integers little-endian, nothing aligned
//    field = index:u8 value                  every field once, in this order; then the end
//    text  = length:u32 bytes NUL            no NUL inside, so that argv can point into it
//    blob  = length:u32 bytes
//    list  = count:u32 item*               of texts, blobs, grants or mounts
//
// To add a field: a member in WorkerSpec (spec.h) and SpecView (spec_view.h), one line here, a new
// kWireVersion. Supervisor and worker are of one build; the version detects mixed installations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "worker/protocol.h"

namespace pa::worker {

inline constexpr std::uint32_t kWireMagic = 0x53574150;         // "PAWS"
inline constexpr std::uint32_t kLaunchWireMagic = 0x4c574150;   // "PAWL"
inline constexpr std::uint32_t kCeilingWireMagic = 0x43574150;  // "PAWC"
inline constexpr std::uint32_t kWireVersion = 8;

// Bounds of single values; encoder and parser refuse a spec beyond them.
inline constexpr std::uint32_t kMaxListItems = 1u << 20;
inline constexpr std::uint32_t kMaxGrants = 4096;
inline constexpr std::uint32_t kMaxMounts = 4096;
inline constexpr std::uint32_t kMaxPrograms = 64;
inline constexpr std::uint8_t kMaxAccess = 31;                       // every bit of sandbox::Access
inline constexpr std::size_t kBpfInstruction = 8;                    // sizeof(struct sock_filter)
inline constexpr std::size_t kMaxBpfBytes = 4096 * kBpfInstruction;  // BPF_MAXINSNS

// `Io` has one method for each kind of value; each returns whether to continue.
template <typename Io, typename Limits>
constexpr bool VisitLimits(Io& io, Limits& limits) {
  return io.Number("cpu_seconds", limits.cpu_seconds) &&    //
         io.Number("memory_bytes", limits.memory_bytes) &&  //
         io.Number("processes", limits.processes) &&        //
         io.Number("open_files", limits.open_files) &&      //
         io.Number("file_bytes", limits.file_bytes) &&      //
         io.Number("wall_time_ms", limits.wall_time_ms) &&  //
         io.Number("grace_ms", limits.grace_ms);
}

template <typename Io, typename Spec>
constexpr bool VisitSpec(Io& io, Spec& spec) {
  return io.Enum("action", spec.action, 1, 6) &&                  //
         io.Text("executable", spec.executable) &&                //
         io.TextList("argv", spec.argv) &&                        //
         io.TextList("env", spec.env) &&                          //
         io.Text("working_directory", spec.working_directory) &&  //
         io.Text("tmp_dir", spec.tmp_dir) &&                      //
         io.Text("shm_dir", spec.shm_dir) &&                      //
         io.Text("file", spec.file) &&                            //
         io.Blob("file_digest", spec.file_digest) &&              //
         io.Number("read_bytes", spec.read_bytes) &&              //
         io.Grants("paths", spec.paths) &&                        //
         io.Enum("network", spec.network, 0, 2) &&                //
         VisitLimits(io, spec.limits) &&                          //
         io.Number("umask", spec.umask) &&                        //
         io.Blob("seccomp_program", spec.seccomp_program) &&      //
         io.Flag("has_ruleset_fd", spec.has_ruleset_fd) &&        //
         io.Mounts("mounts", spec.mounts);
}

template <typename Io, typename Spec>
constexpr bool VisitLaunch(Io& io, Spec& spec) {
  return io.Blob("seccomp_program", spec.seccomp_program) &&  //
         io.Flag("cgroups", spec.cgroups) &&                  //
         io.Flag("namespaces", spec.namespaces) &&            //
         io.Enum("network", spec.network, 0, 2) &&            //
         io.Mounts("view", spec.view);
}

template <typename Io, typename Spec>
constexpr bool VisitCeiling(Io& io, Spec& spec) {
  return io.Flag("views", spec.views) &&            //
         io.Grants("paths", spec.paths) &&          //
         io.Enum("network", spec.network, 0, 2) &&  //
         VisitLimits(io, spec.limits) &&            //
         io.Blobs("programs", spec.programs);
}

}  // namespace pa::worker
