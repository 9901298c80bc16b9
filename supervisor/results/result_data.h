// ChangeData: replaces one list or text in the data of a result, or leaves it out.
//
//    const DataChange change{.path = path->steps, .replacement = "[1,2]"};
//    Result<ChangedData> changed = ChangeData(data, change, names, headline);
//
// What stands beside it stays as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "supervisor/results/field_path.h"

namespace pa {

struct DataChange {
  std::span<const PathStep> path;  // names only: of the member that changes
  // One value of JSON; nothing: the member is left out.
  std::optional<std::string_view> replacement;
};

struct ChangedData {
  std::string data;
  // For people: the other members, as far as they are lists or texts.
  std::string others;
  bool cut = false;  // another text is shown in part only
};

// `data`: a JSON object. `names`: of its members that are lists or texts. `told`: what people are
// told beside `others`; what stands there is not told again.
Result<ChangedData> ChangeData(std::string_view data, const DataChange& change,
                               std::span<const std::string_view> names, std::string_view told);

// What `path`, which is names only, names in the data.
struct DataMember {
  enum class Kind : std::uint8_t { kNone, kText, kList, kOther };
  Kind kind = Kind::kNone;
  std::string text;  // of kText
};
Result<DataMember> FindMember(std::string_view data, std::span<const PathStep> path);

}  // namespace pa
