// ResultField: one field of what a tool returns as `data`. A table of them prints outputSchema, and
// tests check every result against it.
//
// The schema says less than the table: types, and nothing that is required but `success`, so that
// plain, filtered, projected, summarised and failed results all fit. Models pay for its length.
//
//    constexpr ResultField kData[] = {
//        {.name = "path", .required = true},
//        {.name = "size", .kind = FieldKind::kInteger, .description = "in bytes"},
//    };
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pa {

enum class FieldKind { kString, kInteger, kBoolean, kStringArray, kObject, kObjectArray };

struct ResultField {
  std::string_view name;
  FieldKind kind = FieldKind::kString;
  bool required = false;
  std::string_view description = {};
  std::span<const std::string_view> one_of = {};  // kString
  std::span<const ResultField> fields = {};       // kObject, kObjectArray; none: any
};

// The JSON Schema of the envelope (StructuredContent) with `data` inside, on one line. Without
// descriptions: those are for who reads the table.
std::string OutputSchema(std::span<const ResultField> data);

}  // namespace pa
