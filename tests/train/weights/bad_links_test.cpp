// HDF5 files whose links, names or groups are damaged, malicious or unusual: loading throws with a
// message that names the problem, and the model is unchanged.
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include "tests/train/file_bytes.hpp"
#include "tests/train/weights/bad_file.hpp"

namespace weft {

TEST_CASE("bad file: links to other files, and soft links to nothing", "[train]") {
  const BadFile other([](const Maker& maker) { maker.write("group/weight", {3, 4}); });
  const std::string target = other.path.string();
  CHECK_THAT(error_of_weight([&](const Maker& maker, const std::string& weight) {
               H5Lcreate_external(target.c_str(), "group/weight", maker.file, weight.c_str(),
                                  H5P_DEFAULT, H5P_DEFAULT);
             }),
             Catch::Contains("/weight: expected an object of this file, got a link to another"));
  CHECK_THAT(error_of([&](const Maker& maker) {
               H5Lcreate_external(target.c_str(), "group", maker.file, "group", H5P_DEFAULT,
                                  H5P_DEFAULT);
             }),
             Catch::Contains("/group: expected an object of this file, got a link to another"));
  const auto error_of_soft_link = [](const std::string& path) {
    return error_of_weight([&](const Maker& maker, const std::string& weight) {
      H5Lcreate_soft(path.c_str(), maker.file, weight.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    });
  };
  CHECK_THAT(error_of_soft_link("/bias"),
             Catch::Contains("different shape (1): weight: expected [3, 4], got [3]"));
  CHECK_THAT(error_of_soft_link("/none"),
             Catch::EndsWith("/weight: expected an object of this file, got a soft link to "
                             "'/none', which does not exist"));
  CHECK_THAT(error_of_soft_link("../bias"), Catch::EndsWith("to '../bias', which does not exist"));
  CHECK_THAT(error_of_soft_link("bias/bias"),
             Catch::EndsWith("to 'bias/bias', which does not exist"));
  CHECK_THAT(error_of_soft_link("a\nb"), Catch::EndsWith("to 'a\\x0ab', which does not exist"));
  CHECK_THAT(
      error_of_soft_link(std::string(1025, 'n')),
      Catch::Contains("expected names of at most 1024 bytes, got ") && !Catch::Contains("nnn"));
  CHECK_THAT(error_of_soft_link("weight"),
             Catch::EndsWith("/weight: expected at most 16 soft links to an object, got more, or "
                             "a cycle"));
  CHECK_THAT(error_of([](const Maker& maker) {
               H5Lcreate_soft("/b", maker.file, "a", H5P_DEFAULT, H5P_DEFAULT);
               H5Lcreate_soft("/a", maker.file, "b", H5P_DEFAULT, H5P_DEFAULT);
             }),
             Catch::EndsWith("expected at most 16 soft links to an object, got more, or a cycle"));
  // Each link has the one before it 30 times on its way.
  CHECK_THAT(error_of([](const Maker& maker) {
               H5Lcreate_soft("/", maker.file, "0", H5P_DEFAULT, H5P_DEFAULT);
               for (int i = 1; i < 30; ++i) {
                 std::string path;
                 for (int part = 0; part < 30; ++part)
                   path.append(1, '/').append(std::to_string(i - 1));
                 H5Lcreate_soft(path.c_str(), maker.file, std::to_string(i).c_str(), H5P_DEFAULT,
                                H5P_DEFAULT);
               }
             }),
             Catch::Contains("expected "));
  const BadFile linked([&](const Maker& maker) {
    H5Lcreate_external(target.c_str(), "group", maker.file, "group", H5P_DEFAULT, H5P_DEFAULT);
  });
  CHECK_THAT(
      message_of<FileError>([&] { Hdf5File(linked.path).tensor<float>("group/weight"); }),
      Catch::Contains("/group: expected an object of this file, got a link to another file"));
}

TEST_CASE("bad file: groups that are in themselves", "[train]") {
  const auto expected = Catch::EndsWith(
      "loop: expected groups that do not contain themselves, got a link to an outer group");
  CHECK_THAT(error_of([](const Maker& maker) {
               const Handle group = maker.group("a");
               H5Lcreate_soft("/a", group, "loop", H5P_DEFAULT, H5P_DEFAULT);
             }),
             expected);
  // Groups that have the next one twice: as paths, 2^30 of them.
  CHECK_THAT(error_of([](const Maker& maker) {
               Handle group = maker.group("0");
               for (int i = 1; i < 30; ++i) {
                 const std::string path = std::to_string(i);
                 const Handle next = maker.group(path);
                 for (const char* name : {"a", "b"})
                   H5Lcreate_hard(next, ".", group, name, H5P_DEFAULT, H5P_DEFAULT);
                 H5Ldelete(maker.file, path.c_str(), H5P_DEFAULT);
                 group = Handle(H5Gopen2(group, "a", H5P_DEFAULT));
               }
             }),
             Catch::Contains("expected at most 32768 objects, got more") ||
                 Catch::Contains("bytes of structure, got more"));
  CHECK_THAT(error_of([](const Maker& maker) {
               H5Lcreate_hard(maker.file, "/", maker.file, "loop", H5P_DEFAULT, H5P_DEFAULT);
             }),
             expected);
  CHECK_THAT(error_of([](const Maker& maker) {
               const Handle group = maker.group("a");
               H5Lcreate_hard(maker.file, "a", group, "loop", H5P_DEFAULT, H5P_DEFAULT);
             }),
             expected);
}

TEST_CASE("file: a dataset with two hard links is loaded for tied parameters", "[train]") {
  const BadFile file([](const Maker& maker) {
    maker.write("weight", {3});
    H5Lcreate_hard(maker.file, "weight", maker.file, "bias", H5P_DEFAULT, H5P_DEFAULT);
  });
  Affine<float> model({3}, {3});
  CHECK(load_weights(file.path, model).loaded.size() == 2);
}

TEST_CASE("bad file: data in other files", "[train]") {
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
               H5Pset_external(properties, "/etc/passwd", 0, 48);
               maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT, properties);
             }),
             Catch::Contains("/weight: expected data in the file itself, got a dataset with its "
                             "data in another file"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
               const Handle space = space_of({3, 4});
               H5Pset_virtual(properties, space, "other.h5", "weight", space);
               maker.create(weight, {3, 4}, H5T_NATIVE_FLOAT, properties);
             }),
             Catch::Contains("expected data in the file itself, got a virtual dataset"));
}

TEST_CASE("bad file: a group or another object instead of a dataset", "[train]") {
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               maker.write("group/../" + weight, {3, 4});
               maker.group(weight);
             }),
             Catch::Contains("missing"));
  const BadFile file([](const Maker& maker) { maker.group("weight"); });
  CHECK_THAT(message_of<FileError>([&] { Hdf5File(file.path).tensor<float>("weight"); }),
             Catch::Contains("/weight: expected a dataset, got a group"));
  CHECK_THAT(error_of_weight([](const Maker& maker, const std::string& weight) {
               const Handle type(H5Tcopy(H5T_NATIVE_FLOAT));
               H5Tcommit2(maker.file, weight.c_str(), type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
             }),
             Catch::Contains("missing (1): weight [3, 4]"));
}

TEST_CASE("bad file: invalid names", "[train]") {
  const auto error_of_name = [](const std::string& name) {
    return error_of([&](const Maker& maker) { maker.write(name, {3}); });
  };
  CHECK_THAT(error_of_name(".."), Catch::Contains("that are not paths, got '..'"));
  CHECK_THAT(error_of_name("a\nb\x1b[2J"),
             Catch::Contains("that are not paths, got 'a\\x0ab\\x1b[2J'"));
  CHECK_THAT(error_of_name(std::string(60'000, 'n')),
             Catch::Contains("expected names of at most 1024 bytes, got a longer name"));

  // A NUL ends a name, so what was "weightX" is "weight" a second time.
  const BadFile file([](const Maker& maker) {
    maker.write("weight", {3, 4});
    maker.write("weightX", {3, 4});
  });
  std::string bytes = bytes_of(file.path);
  const std::size_t name = bytes.find("weightX");
  REQUIRE(name != std::string::npos);
  bytes[name + 6] = '\0';
  write_bytes(file.path, bytes);
  CHECK_THAT(file.error(), Catch::Contains("expected distinct names, got 'weight' twice"));
}

TEST_CASE("bad file: too many objects, or too deeply nested", "[train]") {
  CHECK_THAT(error_of([](const Maker& maker) {
               for (std::size_t i = 0; i <= Hdf5File::max_objects; ++i)
                 H5Lcreate_soft("x", maker.file, std::to_string(i).c_str(), H5P_DEFAULT,
                                H5P_DEFAULT);
             }),
             Catch::Contains("expected at most 32768 objects, got more"));
  CHECK_THAT(error_of([](const Maker& maker) {
               std::string path = "g";
               for (int i = 0; i < 100; ++i, path += "/g") maker.group(path);
             }),
             Catch::Contains("expected groups at most 32 deep, got deeper"));
}

}  // namespace weft
