# The Conan 2 recipe of weft: `conan create cmake/conan` in the source tree. The libraries that weft uses
# are those of Debian or Ubuntu, which Conan installs with
#   -c tools.system.package_manager:mode=install
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt


class Weft(ConanFile):
    name = "weft"
    license = "MIT"
    description = "Trains small transformers on CPUs: autograd, attention layers, HDF5 checkpoints"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "native": [True, False], "mpi": [True, False]}
    # By default, the package runs on any processor of its architecture, because Conan's packages are
    # often built on a different machine.
    default_options = {"shared": False, "native": False, "mpi": False}
    package_type = "library"

    @property
    def tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self.tree, "CMakeLists.txt"))
        self.version = re.search(r"project\(weft VERSION ([0-9.]+)", text).group(1)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration(f"expected Linux, got {self.settings.os}")

    def export_sources(self):
        for pattern in "CMakeLists.txt", "LICENSE", "autograd/*", "cmake/*", "layers/*", "train/*":
            copy(self, pattern, self.tree, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def system_requirements(self):
        packages = ["libeigen3-dev", "libhdf5-dev", "libxxhash-dev", "libcsv-dev", "libutf8proc-dev",
                    "nlohmann-json3-dev", "libonig-dev", "libminizip-dev", "libdnnl-dev"]
        Apt(self).install(packages + ["libopenmpi-dev"] * bool(self.options.mpi))

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["WEFT_NATIVE"] = bool(self.options.native)
        toolchain.cache_variables["WEFT_MPI"] = bool(self.options.mpi)
        toolchain.cache_variables["WEFT_EXAMPLES"] = False
        toolchain.cache_variables["WEFT_TESTS"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # Programs find weft by weft-config.cmake, as without Conan.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "weft")]
