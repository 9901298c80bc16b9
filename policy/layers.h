// ReadLayers: each source of settings as a fragment, with its paths expanded.
//
//    const Layers layers = ReadLayers(sources, files, written, diagnostics);
//    const PolicyFragment merged = MergeLayers(layers, diagnostics);
#pragma once

#include <string_view>
#include <vector>

#include "policy/load.h"
#include "policy/merge.h"

namespace pa::policy {

// The source of the root that nobody named.
inline constexpr std::string_view kCurrentDirectorySource = "current directory";

// `files` receives the names of the files that were read, the user's first; `written` receives each
// path as an absolute path with its symlinks.
Layers ReadLayers(const PolicySources& sources, std::vector<std::string>& files,
                  std::vector<Located<std::string>>& written, std::vector<Diagnostic>& diagnostics);

}  // namespace pa::policy
