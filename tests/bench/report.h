// Report: collects the figures of the bench, as a table for people and as JSON.
//
//    report.Add({.name = "make noop", .unit = "ms", .ours = 1.1, .reference = 0.9,
//                .against = "posix_spawn", .ratio = 1.2, .goal = AtMost(1.5)});
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pa::bench {

struct Goal {
  double limit;
  bool at_least = false;
  bool of_ratio = true;  // else of our own figure
};
constexpr Goal AtMost(double ratio) { return {ratio}; }
constexpr Goal AtLeast(double ratio) { return {ratio, true}; }
constexpr Goal OursAtMost(double value) { return {value, false, false}; }
constexpr Goal OursAtLeast(double value) { return {value, true, false}; }

struct Figure {
  std::string name;
  std::string unit;
  double ours = 0;
  std::optional<double> reference = {};
  std::string against = {};  // what the reference is
  std::optional<double> ratio = {};
  std::optional<Goal> goal = {};
};

class Report {
 public:
  void Section(std::string title);
  void Add(Figure figure);
  // Adds a figure that could not be measured here.
  void Skip(std::string name, std::string why);

  // Section, Add and Skip print their lines at once; this prints what comes after the last.
  void PrintSummary() const;
  void WriteJson(const std::string& file) const;

 private:
  struct Entry {
    std::string section;
    Figure figure;
    std::string skipped = {};  // why
  };
  static bool Met(const Figure& figure);

  std::string section_;
  std::vector<Entry> entries_;
};

}  // namespace pa::bench
