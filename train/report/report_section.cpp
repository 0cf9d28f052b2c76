#include "weft/train/report/report_section.hpp"

#include <algorithm>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {

void ReportSection::text(std::string title, std::string text) {
  blocks_.push_back({ReportBlock::Kind::text, std::move(title), std::move(text)});
}

void ReportSection::preformatted(std::string title, std::string text) {
  blocks_.push_back({ReportBlock::Kind::preformatted, std::move(title), std::move(text)});
}

void ReportSection::table(std::string title, std::vector<std::string> columns,
                          std::vector<std::vector<std::string>> rows) {
  for (const auto& row : rows)
    if (row.size() != columns.size())
      fail<ShapeError>("table '" + title + "': row", str_cat(columns.size(), " cells"), row.size());
  blocks_.push_back({.kind = ReportBlock::Kind::table,
                     .title = std::move(title),
                     .columns = std::move(columns),
                     .cells = std::move(rows)});
}

void ReportSection::confusion(std::string title, const std::vector<std::string>& classes,
                              Tensor<double> counts) {
  const Shape expected{std::ssize(classes), std::ssize(classes)};
  if (counts.shape() != expected)
    fail<ShapeError>("confusion matrix '" + title + "'", expected, counts.shape());
  blocks_.push_back({.kind = ReportBlock::Kind::confusion,
                     .title = std::move(title),
                     .columns = classes,
                     .rows = classes,
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

void ReportSection::flame_graph(std::string title, const Profile& profile) {
  ReportBlock block{.kind = ReportBlock::Kind::flame, .title = std::move(title)};
  const std::vector<ProfileRow> rows = profile.operations();
  block.counts = Tensor<double>({std::ssize(rows), 4});
  double* to = block.counts.data();
  const double milliseconds = 1e3 / static_cast<double>(std::max<std::int64_t>(profile.steps(), 1));
  const MachineLimits& limits = profile.limits();
  // Layers are in the model's order; the operations of a layer start with the longest.
  for (const ProfileRow& layer : profile.layers())
    for (const ProfileRow& row : rows) {
      if (row.layer != layer.layer) continue;
      block.rows.push_back(row.layer + " " + row.operation);
      for (const double value :
           {milliseconds * row.forward_seconds, milliseconds * row.backward_seconds,
            1e-12 * milliseconds * row.flops,
            milliseconds *
                std::max(row.flops / limits.flops_per_second, row.bytes / limits.bytes_per_second)})
        *to++ = value;
    }
  blocks_.push_back(std::move(block));
}

}  // namespace weft
