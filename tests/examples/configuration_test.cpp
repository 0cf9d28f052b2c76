#include "examples/pronounce/configuration.hpp"

#include <set>
#include <string>

#include <weft/autograd/error.hpp>
#include "examples/common/settings.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using namespace weft::pronounce;

namespace {

// Collects the names of a state's entries.
class Names final : public State<float> {
 public:
  void tensor(const std::string& name, Tensor<float>&) override { add(name); }
  void integer(const std::string& name, std::int64_t&) override { add(name); }
  void flag(const std::string& name, bool&) override { add(name); }
  void number(const std::string& name, double&) override { add(name); }
  void text(const std::string& name, std::string&) override { add(name); }

  std::set<std::string> names;

 private:
  void add(const std::string& name) { CHECK(names.insert(name).second); }
};

}  // namespace

TEST_CASE("configuration: quick and full are in range", "[examples]") {
  CHECK_NOTHROW(Configuration::quick().check_state());
  CHECK_NOTHROW(Configuration::full().check_state());
}

TEST_CASE("configuration: an error names the setting that is out of range", "[examples]") {
  Configuration configuration = Configuration::quick();
  configuration.dropout = 1.5;
  CHECK(message_of<ValueError>([&] { configuration.check_state(); }) ==
        "dropout: expected a value from 0 to 0.999999, got 1.5");
  configuration = Configuration::quick();
  configuration.width = 30;
  configuration.heads = 4;
  CHECK(message_of<ValueError>([&] { configuration.check_state(); }) ==
        "heads: expected a divisor of the width 30, got 4");
  configuration = Configuration::quick();
  configuration.rotary_pairs = "interleaved";
  CHECK(message_of<ValueError>([&] { configuration.check_state(); }) ==
        "rotary_pairs: expected halves, which the model uses, got 'interleaved'");
}

TEST_CASE("configuration: the state contains every setting and both vocabularies", "[examples]") {
  Configuration configuration = Configuration::quick();
  Names state;
  configuration.state(state);
  std::set<std::string> expected{"letters", "phones", "rotary_pairs"};
  Configuration::for_each_setting(
      configuration, [&](const char* name, const char*, auto&, auto...) { expected.insert(name); });
  CHECK(state.names == expected);
}

TEST_CASE("configuration: settings that weft 0.2 did not have mean what it did", "[examples]") {
  const Configuration configuration;
  for (const char* name : {"muon", "decay", "final-lr", "beta2", "qk-norm"})
    CHECK(configuration.is_new_since_0_2(name));
  for (const char* name : {"lr", "width", "letters", ""})
    CHECK_FALSE(configuration.is_new_since_0_2(name));
  const TransformerOptions options = configuration.transformer_options();
  CHECK(options.norm == Norm::layer_norm);
  CHECK_FALSE(options.qk_norm_eps);
  CHECK(options.activation == Activation::relu);
  CHECK_FALSE(configuration.muon);
  CHECK(configuration.final_lr == 0.0);
  CHECK(configuration.decay == 0.0);
  CHECK(configuration.beta2 == 0.999);
}

TEST_CASE("configuration: quick has the layers that its settings name", "[examples]") {
  const TransformerOptions options = Configuration::quick().transformer_options();
  CHECK(options.norm == Norm::rms_norm);
  CHECK(options.qk_norm_eps);
  CHECK(options.activation == Activation::squared_relu);
  CHECK(Configuration::quick().muon);
}

TEST_CASE("configuration: an error names the setting that differs from a checkpoint",
          "[examples]") {
  const Configuration stored = Configuration::quick();
  Configuration requested = stored;
  CHECK_NOTHROW(examples::check_settings_equal(requested, stored));
  requested.lr = 0.25;  // may change
  CHECK_NOTHROW(examples::check_settings_equal(requested, stored));
  requested.width = 2 * stored.width;
  CHECK(contains(message_of<ValueError>([&] { examples::check_settings_equal(requested, stored); }),
                 "--width: expected"));
}
