// ReportSection: texts, tables and attention maps that a report shows.
#pragma once

#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"
#include "weft/train/report/profile.hpp"

namespace weft {

// The attention weights of a head.
struct AttentionMap {
  std::string title;      // such as "block 1, head 2"
  Tensor<float> weights;  // [queries, keys], in 0 … 1
};

// One part of a section.
struct ReportBlock {
  // What it shows.
  enum class Kind { text, preformatted, table, confusion, attention, flame };
  Kind kind = Kind::text;                            // of what follows, what it has
  std::string title;                                 // above it
  std::string text = {};                             // of a text
  std::vector<std::string> columns = {}, rows = {};  // names; keys and queries of attention
  std::vector<std::vector<std::string>> cells = {};  // of a table, by row
  Tensor<double> counts = {};  // of a confusion table, [classes, classes]; see `flame_graph`
  std::vector<AttentionMap> maps = {};  // of attention, each [queries, keys]
};

// What TrainingLoop::show_examples fills. All texts are UTF-8, and shown as they are: none of them
// is taken for HTML.
class WEFT_API ReportSection {
 public:
  // Line breaks and spaces are kept; of a text above 20,000 bytes, the beginning is shown.
  void text(std::string title, std::string text);
  // The same with lines that are not broken where they are long, such as a table of Profile.
  void preformatted(std::string title, std::string text);
  // A table with named columns. Throws ShapeError for a row without one cell a column.
  void table(std::string title, std::vector<std::string> columns,
             std::vector<std::vector<std::string>> rows);
  // counts [classes, classes]: of the examples of each class (rows), how many were taken for which
  // (columns). Throws ShapeError for other shapes.
  void confusion(std::string title, const std::vector<std::string>& classes, Tensor<double> counts);
  // Attention weights of each head, [queries, keys], with the names of rows and columns.
  // Throws ShapeError for maps of other shapes.
  void attention(std::string title, std::vector<std::string> queries, std::vector<std::string> keys,
                 std::vector<AttentionMap> maps);
  // The time of a step by layer and operation, forward and backward, as a flame graph. In the
  // block, rows are "layer operation", and counts [rows, 4] are milliseconds of forward and of
  // backward, GFLOP, and the milliseconds that the machine needs at least.
  void flame_graph(std::string title, const Profile& profile);

  // All of them, in their order.
  const std::vector<ReportBlock>& blocks() const { return blocks_; }

 private:
  std::vector<ReportBlock> blocks_;
};

}  // namespace weft
