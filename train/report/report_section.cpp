#include "weft/train/report/report_section.hpp"

#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {

void ReportSection::text(std::string title, std::string text) {
  blocks_.push_back({ReportBlock::Kind::text, std::move(title), std::move(text)});
}

void ReportSection::table(std::string title, std::vector<std::string> columns,
                          std::vector<std::vector<std::string>> rows) {
  for (const auto& row : rows)
    if (row.size() != columns.size())
      fail<ShapeError>("table '" + title + "': row", concatenate_text(columns.size(), " cells"),
                       row.size());
  blocks_.push_back({.kind = ReportBlock::Kind::table,
                     .title = std::move(title),
                     .columns = std::move(columns),
                     .cells = std::move(rows)});
}

void ReportSection::confusion(std::string title, std::vector<std::string> classes,
                              Tensor<double> counts) {
  const Shape expected{std::ssize(classes), std::ssize(classes)};
  if (counts.shape() != expected)
    fail<ShapeError>("confusion table '" + title + "'", expected, counts.shape());
  blocks_.push_back({.kind = ReportBlock::Kind::confusion,
                     .title = std::move(title),
                     .columns = classes,
                     .rows = std::move(classes),
                     .counts = std::move(counts)});
}

void ReportSection::attention(std::string title, std::vector<std::string> queries,
                              std::vector<std::string> keys, std::vector<AttentionMap> maps) {
  const Shape expected{std::ssize(queries), std::ssize(keys)};
  for (const AttentionMap& map : maps)
    if (map.weights.shape() != expected)
      fail<ShapeError>("attention map '" + map.title + "'", expected, map.weights.shape());
  blocks_.push_back({.kind = ReportBlock::Kind::attention,
                     .title = std::move(title),
                     .columns = std::move(keys),
                     .rows = std::move(queries),
                     .maps = std::move(maps)});
}

}  // namespace weft
