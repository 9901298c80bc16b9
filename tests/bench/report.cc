#include "tests/bench/report.h"

#include <cstdio>
#include <fstream>
#include <utility>

#include "tests/bench/measure.h"
#include "tests/support/json.h"

namespace pa::bench {
namespace {

std::string Number(double value) {
  char text[32];
  const int digits = value < 2 ? 3 : value < 10 ? 2 : value < 1000 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string GoalText(const Figure& figure) {
  if (!figure.goal) return "";
  const std::string unit = figure.goal->of_ratio ? "x" : " " + figure.unit;
  return (figure.goal->at_least ? ">= " : "<= ") + Number(figure.goal->limit) + unit;
}

}  // namespace

bool Report::Met(const Figure& figure) {
  const double value = figure.goal->of_ratio ? figure.ratio.value_or(0) : figure.ours;
  return figure.goal->at_least ? value >= figure.goal->limit : value <= figure.goal->limit;
}

void Report::Section(std::string title) {
  section_ = std::move(title);
  std::printf("\n%-48s %13s %13s %7s %12s\n", section_.c_str(), "ours", "reference", "ratio",
              "goal");
  std::fflush(stdout);
}

void Report::Add(Figure figure) {
  const std::string name = figure.name + (figure.against.empty() ? "" : " / " + figure.against);
  const std::string ours = Number(figure.ours) + " " + figure.unit;
  const std::string reference =
      figure.reference ? Number(*figure.reference) + " " + figure.unit : "";
  const std::string ratio = figure.ratio ? Number(*figure.ratio) : "";
  const char* verdict = !figure.goal ? "" : Met(figure) ? "ok" : "over";
  std::printf("  %-46s %13s %13s %7s %12s %s\n", name.c_str(), ours.c_str(), reference.c_str(),
              ratio.c_str(), GoalText(figure).c_str(), verdict);
  std::fflush(stdout);
  entries_.push_back({section_, std::move(figure)});
}

void Report::Skip(std::string name, std::string why) {
  std::printf("  %-46s not measured: %s\n", name.c_str(), why.c_str());
  std::fflush(stdout);
  Figure figure;
  figure.name = std::move(name);
  entries_.push_back({section_, std::move(figure), std::move(why)});
}

void Report::PrintSummary() const {
  int with_goal = 0;
  int met = 0;
  for (const Entry& entry : entries_) {
    if (!entry.skipped.empty() || !entry.figure.goal) continue;
    ++with_goal;
    if (Met(entry.figure)) ++met;
  }
  std::printf(
      "\n%d of %d goals met. Medians of interleaved rounds; a ratio is the median of the "
      "rounds' ratios.\n",
      met, with_goal);
}

void Report::WriteJson(const std::string& file) const {
  testing::Json all = testing::Json::array();
  for (const auto& [section, figure, skipped] : entries_) {
    testing::Json line = {{"section", section}, {"name", figure.name}};
    if (!skipped.empty()) {
      line["skipped"] = skipped;
    } else {
      line["unit"] = figure.unit;
      line["ours"] = figure.ours;
      if (!figure.against.empty()) line["against"] = figure.against;
      if (figure.reference) line["reference"] = *figure.reference;
      if (figure.ratio) line["ratio"] = *figure.ratio;
      if (figure.goal) {
        line["goal"] = GoalText(figure);
        line["met"] = Met(figure);
      }
    }
    all.push_back(std::move(line));
  }
  std::ofstream out(file);
  out << testing::Json{{"figures", std::move(all)}}.dump(2) << "\n";
  if (!out.flush()) GiveUp("cannot write " + file);
}

}  // namespace pa::bench
