// What every public layer, optimizer, schedule and loss must have: a test of its gradients, and a
// comparison with PyTorch. Tests say in their tags what they are about:
//
//   TEST_CASE("gradients: layer norm", "[layers][gradients][LayerNorm]")
//   TEMPLATE_TEST_CASE("torch.nn.LayerNorm", "[golden][LayerNorm]", float, double)
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What `pattern` captures in the headers of a folder.
Names captured(const std::string& folder, const std::string& pattern) {
  const std::regex regex(pattern);
  Names names;
  for (const auto& entry : fs::directory_iterator(fs::path(WEFT_SOURCE) / folder)) {
    if (entry.path().extension() != ".hpp") continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
      names.insert((*match)[1]);
  }
  return names;
}

// The tags of each test case, "[layers][gradients][LayerNorm]".
const std::vector<std::string>& all_tags() {
  static const std::vector<std::string> all = [] {
    const std::regex test_case(R"re(TEST_CASE\(\s*(?:"[^"]*"\s*)+,\s*"((?:\[\w+\])+)")re");
    std::vector<std::string> tags;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(WEFT_SOURCE) / "tests")) {
      if (!entry.path().string().ends_with("_test.cpp")) continue;
      const std::string text = text_of(entry.path());
      for (std::sregex_iterator match(text.begin(), text.end(), test_case), end; match != end;
           ++match)
        tags.push_back((*match)[1]);
    }
    return tags;
  }();
  return all;
}

// The names for which no test has both tags.
Names without_test(const Names& names, const std::string& kind) {
  Names missing = names;
  for (const std::string& tags : all_tags())
    if (tags.find("[" + kind + "]") != tags.npos)
      std::erase_if(missing, [&](const std::string& name) {
        return tags.find("[" + name + "]") != tags.npos;
      });
  return missing;
}

// Public layers, without what other layers derive from and what computes nothing.
Names layers() {
  const std::string layer = R"(\n(?:struct|class) WEFT_API (\w+)(?: final)? :)";
  Names names = captured("layers", layer);
  names.merge(captured("layers/models", layer));
  for (const char* other : {"ModuleList", "RecurrentLayers", "TrainableParameters"})
    names.erase(other);
  return names;
}

Names optimizers() {
  Names names = captured("train/optim", R"(\nclass WEFT_API (\w+)(?: final)? : public)");
  names.erase("Optimizer");
  return names;
}

Names schedules() { return captured("train/optim", R"(\nWEFT_API Schedule (\w+)\()"); }

}  // namespace

TEST_CASE("kinds: the gradients of every layer are checked", "[components]") {
  REQUIRE(layers().contains("LayerNorm"));
  REQUIRE(layers().contains("Gpt"));
  CHECK(without_test(layers(), "gradients") == Names{});
}

TEST_CASE("kinds: every layer is compared with PyTorch", "[components]") {
  CHECK(without_test(layers(), "golden") == Names{});
}

TEST_CASE("kinds: every optimizer is compared with PyTorch", "[components]") {
  REQUIRE(optimizers().contains("AdamW"));
  CHECK(without_test(optimizers(), "golden") == Names{});
}

TEST_CASE("kinds: every learning rate schedule is compared with PyTorch", "[components]") {
  REQUIRE(schedules().contains("warmup_cosine_schedule"));
  CHECK(without_test(schedules(), "golden") == Names{});
}

TEST_CASE("kinds: every loss is compared with PyTorch", "[components]") {
  const fs::path golden = fs::path(WEFT_SOURCE) / "tests/golden";
  const std::string rows = text_of(golden / "operations_test.cpp");
  const std::string calls = text_of(golden / "operation_rows_test.cpp");
  const std::regex declaration(R"(\nWEFT_API Var<T> (\w+)\()");
  Names missing, losses;
  for (const char* header : {"losses.hpp", "cross_entropy.hpp", "ctc_loss.hpp"}) {
    const std::string text = text_of(fs::path(WEFT_SOURCE) / "autograd/ops" / header);
    for (std::sregex_iterator match(text.begin(), text.end(), declaration), end; match != end;
         ++match)
      losses.insert((*match)[1]);
  }
  REQUIRE(losses.contains("mse_loss"));
  for (const std::string& loss : losses)
    if (rows.find("{\"" + loss + "\"") == rows.npos &&
        calls.find("return " + loss + "(") == calls.npos)
      missing.insert(loss);
  CHECK(missing == Names{});
}
